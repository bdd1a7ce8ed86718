-- What several relations say alike: reading JSON, and sums that repeat themselves to the last digit.

-- Values arrive as JSON text, which says by its first character what it is: no parser is needed.

-- The text of a JSON scalar; null for null, objects and lists.
create or replace macro json_as_text(value) as
    case
        when starts_with(value, '"') then value ->> '$'
        when left(value, 1) not in ('{', '[', 'n') then value::varchar
    end;

-- A JSON number; null for anything else, true and "1.0" included, and for what measures nothing: not
-- finite, or beyond 1e50, whose fourth power and the sums of it are still finite. Below 1e-50 it is 0.
create or replace macro json_as_number(value) as
    -- A digit or a minus comes first: no other JSON is between these.
    case when value::varchar between '-' and ':' then
        case
            when abs(try_cast(value::varchar as double)) < 1e-50 then 0
            when abs(try_cast(value::varchar as double)) <= 1e50 then try_cast(value::varchar as double)
        end
    end;

-- A JSON number, or true and false as 1 and 0: what a verifier may have measured.
create or replace macro json_as_measure(value) as
    case value::varchar
        when 'true' then 1.0::double
        when 'false' then 0.0::double
        else json_as_number(value)
    end;

-- A JSON boolean; null for anything else.
create or replace macro json_as_boolean(value) as
    case value::varchar when 'true' then true when 'false' then false end;

-- A JSON number without a fraction, as an integer.
create or replace macro json_as_integer(value) as
    case
        when regexp_matches(value, '^-?[0-9]{1,15}([.]0+)?$')
            then cast(cast(value::varchar as double) as bigint)
    end;

-- A JSON number that can count: whole and not negative.
create or replace macro json_as_index(value) as
    case
        when regexp_matches(value, '^[0-9]{1,15}([.]0+)?$')
            then cast(cast(value::varchar as double) as bigint)
    end;

-- The text of one field of a JSON object, where it is a scalar.
create or replace macro json_field(value, name) as
    json_as_text(json_extract(value, '$."' || name || '"'));

-- The number in one field of a JSON object.
create or replace macro json_field_number(value, name) as
    json_as_number(json_extract(value, '$."' || name || '"'));

-- The count in one field of a JSON object.
create or replace macro json_field_count(value, name) as
    json_as_index(json_extract(value, '$."' || name || '"'));

-- The first of some fields that is a number, or a text: to take them all from one object reads it once.
create or replace macro first_number(found) as
    list_filter(
        list_transform(found, lambda value: json_as_number(value)),
        lambda number: number is not null
    )[1];

create or replace macro first_text(found) as
    list_filter(
        list_transform(found, lambda value: json_as_text(value)),
        lambda text: text is not null
    )[1];

-- The field that says how an attempt fared where its row has no `reward`: a number called `score`,
-- else a boolean.
create or replace macro outcome_field(verifier) as
    case
        when json_field_number(verifier, 'score') is not null then 'score'
        when json_as_boolean(json_extract(verifier, '$."correct"')) is not null then 'correct'
        when json_as_boolean(json_extract(verifier, '$."passed"')) is not null then 'passed'
        when json_as_boolean(json_extract(verifier, '$."success"')) is not null then 'success'
    end;

-- A JSON object as a map of its fields; null for anything else.
create or replace macro json_fields(value) as
    try(json_transform(value, '"MAP(VARCHAR, JSON)"'));

-- Fields as a JSON object, in the order given.
create or replace macro json_from_entries(entries) as
    '{' || array_to_string(
        list_transform(
            entries,
            lambda entry: json_quote(entry.key)::varchar || ':' || coalesce(entry.value, 'null')
        ),
        ','
    ) || '}';

-- The parts of message content, which is a string, a list of parts, or one part.
create or replace macro content_parts(content) as
    case left(content, 1)
        when '[' then from_json(content, '["JSON"]')
        when '"' then [content]
        when '{' then [content]
        else []::json[]
    end;

create or replace macro part_text(part) as
    case left(part, 1)
        when '"' then part ->> '$'
        else coalesce(part ->> '$.text', part ->> '$.refusal')
    end;

-- Content for people: parts without text are named by their type. The usual case, one part of
-- text, is read directly: lists of long texts cost many times their size.
create or replace macro content_text(content) as
    case when content is not null then coalesce(
        case
            when left(content, 1) = '"' then content ->> '$'
            when json_array_length(content) = 1 then content ->> '$[0].text'
        end,
        array_to_string(
            list_transform(
                content_parts(content),
                lambda part: coalesce(
                    part_text(part), '[' || coalesce(part ->> '$.type', 'part') || ']'
                )
            ),
            ''
        )
    ) end;

-- Images and sounds that content or a request holds as data, one address a line. Of a larger one
-- only its type is named in the text.
create or replace macro content_media(content) as
    case when contains(content, 'base64') or contains(content, '"input_audio"') then nullif(
        array_to_string(
            list_filter(
                regexp_extract_all(
                    regexp_replace(
                        replace(content::varchar, '\/', '/'),
                        '"input_audio":\s*\{\s*"data":\s*"([A-Za-z0-9+/=]+)",\s*"format":\s*"(wav|mp3)"',
                        'data:audio/\2;base64,\1',
                        'g'
                    ),
                    'data:(image/(png|jpeg|gif|webp)|audio/(wav|mpeg|mp3|ogg));base64,[A-Za-z0-9+/]+=?=?'
                ),
                lambda address: length(address) <= 1500000
            )[:8],
            e'\n'
        ),
        ''
    ) end;

-- Content for comparing: parts without text count with all they hold.
create or replace macro content_key(content) as
    array_to_string(
        list_transform(
            content_parts(content), lambda part: coalesce(part_text(part), part::varchar, '')
        ),
        ''
    );

-- The messages of a request's input that one side wrote; a bare string is the user's.
create or replace macro request_messages(input, roles) as
    case left(input, 1)
        when '"' then
            case when list_contains(roles, 'user') then [input] else []::json[] end
        when '[' then list_transform(
            list_filter(
                from_json(input, '[{"role": "VARCHAR", "content": "JSON"}]'),
                lambda message: list_contains(roles, message.role)
            ),
            lambda message: message.content
        )
        else []::json[]
    end;

create or replace macro request_text(input, roles) as
    array_to_string(
        list_transform(request_messages(input, roles), lambda content: content_text(content)),
        e'\n\n'
    );

create or replace macro request_key(input) as
    array_to_string(
        list_transform(request_messages(input, ['user']), lambda content: content_key(content)),
        e'\n\n'
    );

create or replace macro answer_failed(answer) as
    coalesce(json_as_number(answer.exit_code) <> 0, false)
    or coalesce(json_as_number(answer.returncode) <> 0, false)
    or coalesce(json_as_number(answer.return_code) <> 0, false)
    or coalesce(
        answer.error::varchar not in ('false', '""', '0', '[]', '{}', '"none"', '"None"'), false
    )
    or coalesce(answer.status::varchar in ('"error"', '"failed"', '"failure"'), false)
    -- Of HTTP.
    or coalesce(
        json_as_number(coalesce(answer.status_code, answer.statusCode, answer.status)) between 400 and 599,
        false
    )
    or coalesce(answer.isError::varchar = 'true', false)
    or coalesce(answer.is_error::varchar = 'true', false)
    or coalesce(answer.success::varchar = 'false', false);

create or replace macro text_failed(beginning) as
    regexp_matches(
        beginning,
        -- The tags of a harness around it do not matter, unless they say it themselves, nor does the name
        -- that a result is given: # result = "Error: ...".
        '^\s*(#?\s*[A-Za-z_]\w{0,60}\s*=\s*["''])?(<[A-Za-z_:-]{1,30}>\s*){0,3}["(\[]?\s*('
        || '(?i:<(tool_|tool_use_|function_)?(error|exception)>)'
        || '|(?i:<(returncode|return_code|exit_?code|exit_status)>)\s*(-|[1-9])'
        || '|(?i:((tool|execution|runtime|validation|http|syntax|database|api|(internal )?server|client|network|connection|request) )?error)'
        || '\s*([:!(\[-]|\d|executing|calling|while |in )'
        -- A status of HTTP, by its number and its words.
        || '|(?i:(http(/[\d.]+)?|status( code)?:?) [45]\d\d\b)'
        || '|[45]\d\d (Bad Request|Unauthorized|Forbidden|Not Found|Too Many Requests|Internal Server Error'
        || '|Bad Gateway|Service Unavailable|Gateway Time-?out|Client Error|Server Error)\b'
        || '|(?i:fatal|exception)\s*:'
        || '|Traceback \(most recent call last\)'
        || '|[A-Z]\w*(Error|Exception)\b\s*([:(]|(while|when|during|at|in) )'
        || '|(?i:command (failed|timed out|not found))'
        || '|(?i:((process|command) )?(exited with|exit) (code|status):?\s*-?[1-9])'
        || '|(?i:failed to )'
        || '|(?i:(invalid|unknown|unrecognized) (tool|function|argument|command|action))'
        || ')'
    );

-- Did a tool's answer report a failure? A JSON answer says so in a field (`spec` names those that
-- may); any other text begins with it: the word further in is noise.
create or replace macro tool_failed(text, spec) as
    case
        when text is null then null
        -- A list of one, so that the answer is parsed once for all that is asked of it.
        when regexp_matches(text, '^\s*\{') then list_transform(
            [try(json_transform(text, spec))],
            lambda answer: case
                when answer is not null then answer_failed(answer)
                else text_failed(left(text, 400))
            end
        )[1]
        else text_failed(left(text, 400))
    end;

-- A model's name; null for the placeholders that servers and simulators write in its place. It may be
-- a long path, and is no key: only what is longer than paths are is cut.
create or replace macro model_name(name) as
    case
        when lower(trim(name)) not in
            ('', 'model', 'policy_model', 'synthetic', 'none', 'null', 'unknown')
            then case when length(name) > 500 then bounded_name(trim(name)) else trim(name) end
    end;

-- Text that is JSON already, as a JSON value.
create or replace macro as_json(text) as text::json;

-- Only characters that are safe in a folder's name.
create or replace macro safe_name(name) as
    regexp_replace(name, '[^A-Za-z0-9._-]+', '-', 'g');

-- The name of a benchmark as the folder that it becomes.
create or replace macro benchmark_name(name) as
    nullif(regexp_replace(safe_name(name), '^[.-]+', ''), '');

-- A name that is a key, a folder, or printed with every figure: of one longer than 200 characters the
-- beginning and a hash. pipeline/citation.py has the same rule, so that a full name finds its key.
create or replace macro bounded_name(name) as
    case when length(name) > 200 then left(name, 182) || '… ' || left(md5(name), 16) else name end;

-- A name and a value as they stand in a JSON object: a number bare, anything else as a string.
create or replace macro json_pair(name, value) as
    json_quote(name)::varchar || ': '
    || case
        -- 007 is a number to the engine and none in JSON.
        when isfinite(try_cast(value as double)) and json_valid(value) then value
        else json_quote(value)::varchar
    end;

-- Tools that change state, of a list of definitions: those whose annotations (MCP) say that they do
-- more than read, or destroy something. Names in order.
create or replace macro write_tools(tools) as
    nullif(array_to_string(list_sort(list_distinct(list_transform(
        list_filter(
            list_transform(from_json(tools, '["JSON"]'), lambda tool: {
                'name': coalesce(
                    json_as_text(json_extract(tool, '$.name')),
                    json_as_text(json_extract(tool, '$.function.name'))
                ),
                'hints': coalesce(
                    json_extract(tool, '$.annotations'), json_extract(tool, '$.function.annotations')
                )
            }),
            lambda tool: tool.name is not null and coalesce(
                not json_as_boolean(json_extract(tool.hints, '$.readOnlyHint')),
                json_as_boolean(json_extract(tool.hints, '$.destructiveHint')),
                false
            )
        ),
        lambda tool: tool.name
    ))), ', '), '');

-- The names in a list of definitions of tools, in order.
create or replace macro tool_names(tools) as
    list_sort(list_distinct(list_filter(
        list_transform(tools, lambda tool: coalesce(tool.name, tool.function.name)),
        lambda name: name is not null
    )));

create or replace macro sorted_sum(value) as list_sum(list(value order by value));

-- The sum of floats where they are very many: the same in any order, and several times faster
-- than to sort them. In whole parts of 2^-64; what is too large for that is sorted.
create or replace macro steady_sum(value) as
    case when count(value) > 0 then
        coalesce(
            cast(
                sum(cast(
                    case when abs(value) <= 1e12 then value * 18446744073709551616::double end as hugeint
                )) as double
            ) / 18446744073709551616::double,
            0
        )
        + coalesce(list_sum(list(value order by value) filter (where abs(value) > 1e12)), 0)
    end;

-- The difference of two figures; of equal ones it is 0, however they were rounded.
create or replace macro difference(figure, other) as
    case
        when abs(figure - other) < 1e-12 * greatest(1, abs(figure), abs(other)) then 0.0::double
        else figure - other
    end;

-- The answer that a verifier took from the output, under the names verifiers give it.
create or replace macro extracted_answer(verifier) as
    coalesce(
        json_field(verifier, 'extracted_answer'),
        -- Few rows have another: each is asked where its name is.
        case
            when
                contains(verifier, 'predicted') or contains(verifier, 'parsed')
                or contains(verifier, 'extracted')
                then first_text(json_extract(verifier, [
                    '$."predicted_answer"',
                    '$."parsed_answer"',
                    '$."extracted_label"',
                    '$."predicted_label"',
                    '$."extracted"',
                    '$."predicted"'
                ]))
        end
    );

-- A pattern for a test by its name and, where it has several cases, the one in brackets: it may hold blanks.
create or replace macro test_name(name) as
    name || '(?:\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\])?';

-- What all cases of a test are called: test_x of test_x[a].
create or replace macro case_base(check_name) as
    regexp_replace(check_name, '\[.*\]$', '', 's');

-- A check by the name that signs and modes have for it.
create or replace macro check_sign(source, check_name) as source || ': ' || check_name;

-- Letters and digits alone: what is left of a text or a name however it is written.
create or replace macro bare_text(text) as regexp_replace(lower(text), '[^\p{L}\p{N}]+', '', 'g');

-- Is a text nothing but words of the model's own, whole or a longer piece of them? The model's words are given bare.
create or replace macro is_own_words(text, own) as
    coalesce(
        -- A list of one, so that the pattern is compiled once.
        list_transform(
            [bare_text(left(text, 1000))],
            lambda bare: bare = own or length(bare) >= 20 and contains(own, bare)
        )[1],
        false
    );

-- The score of this name among those that a harness lists with their names.
create or replace macro named_score(verifier, name) as
    list_filter(
        flatten([
            try_cast(json_extract(verifier, '$.score') as json[]),
            try_cast(json_extract(verifier, '$.scores') as json[])
        ]),
        lambda score: json_extract_string(score, '$.name') = name
    )[1] -> '$.score';

-- A field of a row by its JSON path, or a score by its name; the components of a reward stand apart from the rest.
-- A path is checked even where its branch is not taken, so each branch gets one that can be read.
create or replace macro row_field(verifier, reward_components, path) as
    case
        when path is null then null
        when starts_with(path, '$."reward_components".')
            then json_extract(
                reward_components,
                if(starts_with(path, '$."reward_components".'), '$' || path[22:], '$')
            )
        else coalesce(
            json_extract(verifier, path),
            named_score(verifier, regexp_extract(path, '^\$\."(.+)"$', 1))
        )
    end;

-- The share of k-subsets of n things that lie wholly among m of them: C(m, k) / C(n, k).
create or replace macro subset_share(n, m, k) as
    list_product(list_transform(range(k), lambda i: greatest(m - i, 0) / (n - i)));

-- pass@k and pass^k of a task, n_passed of n: with fewer than k null, and the least and the most that
-- each could be were the others known.
create or replace macro pass_rates(n, n_passed, k) as
    if(
        n >= k,
        list_transform(
            [1 - subset_share(n, n - n_passed, k), subset_share(n, n_passed, k)],
            lambda rate: {'value': rate, 'least': rate, 'most': rate}
        ),
        [
            {'value': null, 'least': if(n_passed > 0, 1, 0), 'most': 1},
            {'value': null, 'least': 0, 'most': if(n_passed = n, 1, 0)}
        ]
    );

-- Do a rollout's facts, one digit for each stage, show this one? A pass has gone through every stage,
-- but passing makes nothing expected; a later stage alone does not make up for one.
create or replace macro shows_stage(facts, is_pass, stage_no, stage) as
    substring(facts, stage_no, 1) <> '0' or (is_pass and stage <> 'expected');

-- The first of some fields whose text says something: not empty, and no word for "nothing happened".
create or replace macro first_telling(found) as
    list_filter(
        list_transform(found, lambda value: json_as_text(value)),
        lambda text: regexp_matches(text, '\S')
            and lower(trim(left(text, 20))) not in (
                'none', 'null', 'nan', 'ok', 'no', 'false', 'correct', 'passed', 'pass', 'success',
                'other', 'unknown', 'n/a'
            )
    )[1];

-- The line of a traceback that says what was raised, wherever it is in a text; none where nothing shows
-- where it was raised. Of a text that was shortened (`checks`), this line is behind the gap.
create or replace macro raised_error(text) as
    case
        when contains(text, ', line ') or regexp_matches(text, ' … [A-Za-z_][\w.]*(?:Error|Exception)\b')
            then nullif(regexp_extract(text, '(?m)(?:^| … )([A-Za-z_][\w.]*(?:Error|Exception)\b.*)$', 1), '')
    end;

-- Without white space at both ends; `trim` with characters takes four times as long.
create or replace macro trimmed(text) as regexp_replace(text, '^[ \t\n\r]+|[ \t\n\r]+$', '', 'g');

-- The number that a short text is, as a text: `$1,000.00` is 1000; null for any other.
create or replace macro number_alone(text) as
    case
        when length(text) < 30 and regexp_full_match(text, '\s*[$€£]?\s*-?\d[\d,]*(?:[.]\d+)?\s*[.]?\s*')
            then regexp_replace(regexp_replace(text, '[$€£,\s]|[.]\s*$', '', 'g'), '[.]0+$', '')
    end;

-- Text for comparing answers: case, the width of spaces and a closing point do not count, nor how a number is
-- written.
create or replace macro comparable(text) as
    coalesce(
        number_alone(text),
        regexp_replace(lower(trim(regexp_replace(text, '\s+', ' ', 'g'))), '\s*[.]$', '')
    );

-- What a key comes to that says how it is reached: GSM8K writes its steps, then `#### 18`.
create or replace macro stated_key(key) as
    coalesce(nullif(regexp_extract(key, '####\s*(\S[^\n]*?)\s*$', 1), ''), key);

-- Does an answer that is not the key have it among its words? Of the letter of an option whether it is the
-- first or the last that is named as one; who goes through three or more in their order names none. Of a number
-- whether it is the last, since any other may be a step; a word of few letters may be any word.
create or replace macro names_key(answer, key) as
    case
        when comparable(answer) = comparable(key) then false
        when regexp_full_match(key, '[A-Z]')
            then list_transform(
                [regexp_extract_all(answer, '(?:^|[^\p{L}\p{N}])([A-Z])[).:*\]]', 1)],
                lambda letters: key in (letters[1], letters[-1]) and list_transform(
                    [list_filter(letters, lambda letter, place: list_position(letters, letter) = place)],
                    lambda named: len(named) < 3 or named <> list_sort(named)
                )[1]
            )[1]
        when number_alone(key) is not null
            then number_alone(
                regexp_extract_all(answer, '(?:^|[^\p{L}\d.,-])(-?\d[\d,]*(?:[.]\d+)?)', 1)[-1]
            ) = number_alone(key)
        when length(bare_text(key)) < 4 or not regexp_matches(key, '\p{L}{3}') then false
        when lower(trim(key)) in ('true', 'false', 'none', 'null') then false
        else contains(
            ' ' || trim(regexp_replace(lower(answer), '[^\p{L}\p{N}]+', ' ', 'g')) || ' ',
            ' ' || trim(regexp_replace(lower(key), '[^\p{L}\p{N}]+', ' ', 'g')) || ' '
        )
    end;

-- The message in a tool's failing answer: a field of its JSON or its text, and of a traceback the
-- last line. A list of one, so that the answer is read once.
create or replace macro error_message(text) as
    list_transform(
        [coalesce(
            case when regexp_matches(text, '^\s*\{') then list_filter(
                list_transform(
                    try(json_extract(text, [
                        '$.error', '$.error.message', '$.error.detail', '$.message', '$.detail',
                        '$.stderr', '$.output', '$.status'
                    ])),
                    lambda found: first_telling([found])
                ),
                lambda found: found <> 'true'
            )[1] end,
            -- Out of the tags of a harness.
            case when regexp_matches(text, '^\s*<') then regexp_replace(
                text, '<(return_?code|exit_?code|exit_status)>[^<]*</[a-z_]+>|</?[A-Za-z_:-]{1,30}>', '', 'g'
            ) end,
            -- Without the name that the result is given.
            nullif(regexp_extract(text, '^\s*#?\s*[A-Za-z_]\w{0,60}\s*=\s*["''](.*)["'']\s*$', 1, 's'), ''),
            -- Without the line before or after it that gives its status.
            nullif(trim(regexp_replace(
                text,
                '^\s*(?i:((process|command) )?(exited with|exit) (code|status):?\s*-?\d+)[^\S\n]*\n'
                || '|\n\s*(?i:((process|command) )?exited with (code|status) -?\d+)[.]?\s*$',
                '',
                'g'
            )), ''),
            text
        )],
        lambda message: regexp_replace(
            regexp_replace(
                left(
                    case
                        when contains(message, 'Traceback (most recent call last)')
                            then regexp_extract(right(message, 2000), '([^\n]*\S)\s*$', 1)
                        else message
                    end,
                    1000
                ),
                '^\s+|\s+$', '', 'g'
            ),
            '^(?i:error)(?: (?:executing|calling|running|in)(?: (?:tool|function))? \S+?)?\s*:\s*', ''
        )
    )[1];

-- A message without the name of its own task, also as a part of the name of a trial.
create or replace macro without_task(message, task) as
    if(
        length(task) >= 6 and regexp_matches(task, '[^\d.]') and contains(message, task),
        regexp_replace(replace(message, task, '<task>'), '<task>__\w+', '<task>', 'g'),
        message
    );

-- A message without what differs from one time to the next but its numbers, which are addresses, quoted
-- words, paths and ids. Names of JSON fields stay, in quotes that no text holds until the end, so that
-- what is left are words of the message. Straight quotes far apart are no pair; curved ones always are, and
-- a bound takes long to compile.
create or replace macro error_excerpt(message) as
    trim(translate(regexp_replace(
        regexp_replace(
            regexp_replace(
                regexp_replace(
                    regexp_replace(
                        regexp_replace(
                            regexp_replace(
                                regexp_replace(
                                    regexp_replace(
                                        -- What an argument holds is of the call.
                                        regexp_replace(left(message, 1000), '=(?:\{[^{}\n]*\}|\[[^\[\]\n]*\])', '=<value>', 'g'),
                                        '([{,]\s*)"([^"''\n]{1,80})"(\s*:)', '\1' || chr(64976) || '\2' || chr(64976) || '\3', 'g'
                                    ),
                                    '([{,]\s*)''([^"''\n]{1,80})''(\s*:)', '\1' || chr(64977) || '\2' || chr(64977) || '\3', 'g'
                                ),
                                '\b[A-Za-z][A-Za-z0-9+.-]*://[^\s"''<>)\]]+', '<url>', 'g'
                            ),
                            '[\w.+-]+@[\w-]+(?:\.[\w-]+)+', '<address>', 'g'
                        ),
                        -- The port of a host is of its address.
                        '(\w):\d{4,5}\b', '\1:<n>', 'g'
                    ),
                    '(^|[\s(\[{=:,])(?:"[^"\n]{1,200}"|''[^''\n]{1,200}''|`[^`\n]{1,200}`|‘[^’\n]+’|“[^”\n]+”)',
                    '\1<text>', 'g'
                ),
                '(?:\b[A-Za-z]:|[\w.@~+*-]+)?(?:[/\\][\w.@~+*-]+){2,}[/\\]?', '<path>', 'g'
            ),
            '\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b(?:0x)?[0-9a-fA-F]{8,}\b|\b0x[0-9a-fA-F]+\b',
            '<n>', 'g'
        ),
        '\s+', ' ', 'g'
    ), chr(64976) || chr(64977), '"'''));

-- The same error under one name, by its excerpt without numbers. Where the excerpt is read too, it is made in a step
-- before: to compile and to match its patterns takes long.
create or replace macro signature_of(excerpt) as
    left(regexp_replace(
        regexp_replace(excerpt, '[\w.@+-]*\d[\w.@+-]*', '<n>', 'g'),
        '<n>(?:[,;:\s]+<n>)+', '<n>', 'g'
    ), 160);

create or replace macro error_signature(message) as signature_of(error_excerpt(message));

-- An error's name among those of its benchmark: with numbers, where all of its signature have the same.
create or replace macro common_signature(benchmark, signature, excerpt) as
    if(
        min(left(excerpt, 160)) over (partition by benchmark, signature)
            = max(left(excerpt, 160)) over (partition by benchmark, signature),
        left(excerpt, 160),
        signature
    );

-- Does a tool's error say that there is no such tool? It names the tool that was called, or none: a
-- database too has functions that do not exist.
create or replace macro is_unknown_tool(message, tool) as
    regexp_matches(
        message,
        '(?i)\b(unknown|no such|unrecogni[sz]ed|undeclared|undefined|nonexistent|invalid) (tool|function)\b'
        || '|\b(tool|function)( ["''`]?[\w./:-]{1,100}["''`]?)? (is |was )?'
        || '(not (registered|found|available|defined|recogni[sz]ed|known|declared)|unknown|undefined|does not exist|doesn''t exist)\b'
    )
    and not regexp_matches(
        message,
        '(?i)\b(unknown|unrecogni[sz]ed|undefined|invalid) (tool|function) (call )?'
        || '(argument|parameter|param|input|output|response|result|schema|signature)'
    )
    and (
        contains(lower(message), lower(tool))
        or regexp_matches(
            message,
            '(?i)^\W*(unknown|no such|unrecogni[sz]ed|undeclared|undefined|nonexistent|invalid) (tool|function)\W*$'
            || '|^\W*(tool|function) (is |was )?not (registered|found|available|recogni[sz]ed|known|declared)\W*$'
        )
    );

-- What a health check found: on what, in words, and the evidence.
create or replace macro finding(name, place, words, seen) as
    {'check_id': name, 'subject': place, 'message': words, 'evidence': seen::varchar};

-- The name with the largest size, the way that all together go; of several the first by name.
create or replace macro largest_by(name, size) as
    case
        when sorted_sum(size) > 0 then arg_min(name, (-size, name)) filter (where size is not null)
        else arg_min(name, (size, name)) filter (where size is not null)
    end;

-- Neither nothing nor all, but for rounding.
create or replace macro is_partial_reward(reward) as abs(reward) > 1e-9 and abs(reward - 1) > 1e-9;

-- So many runs of a benchmark, and entrants of a suite, are compared each with each: pairs grow with
-- their square. Of more, each is compared with a baseline or, without one, with the first, and runs with the
-- few others of their model; `assertions.warn` and `suite_notes` say so.
create or replace macro most_paired_runs() as 20;
create or replace macro most_runs_of_model() as 6;
create or replace macro most_paired_entrants() as 100;

-- The standard error of a mean over n tasks that come in groups, from the square of what each group
-- deviates by in all and how many tasks it has: Bell and McCaffrey's, which holds for unequal groups.
create or replace macro clustered_error(square, n_own, n) as
    sqrt(steady_sum(square * (n / nullif(n - n_own, 0)))) / nullif(max(n), 0);

-- Its degrees of freedom, Satterthwaite's: where groups are alike one less than there are groups. A
-- row may stand for several groups of one size.
create or replace macro clustered_degrees(n_own, n_alike, n) as
    case when min(nullif(n_own, 0)) < max(n_own) then
        1 / (
            sorted_sum(n_alike * (n_own / n) ** 2)
            + sorted_sum(n_alike * (n_own / n) ** 2 / (1 - n_own / n)) ** 2
            - sorted_sum(n_alike * ((n_own / n) ** 2 / (1 - n_own / n)) ** 2)
        )
    else coalesce(sum(n_alike) filter (where n_own > 0), 0) - 1 end;

-- The variance of a task's change if its attempts had been dealt out again to both runs, from the
-- attempts, the mean and the variance of the mean on either side: that of one attempt has no part.
create or replace macro dealt_variance(n, value, variance, other_n, other_value, other_variance) as
    (
        (n - 1) * n * coalesce(variance, 0)
        + (other_n - 1) * other_n * coalesce(other_variance, 0)
        + n * other_n / (n + other_n) * (other_value - value) ** 2
    ) / (n + other_n - 1) * (1 / n + 1 / other_n);

-- The standard error of a mean with a sum of variances that its differences do not show.
create or replace macro with_hidden(error, hidden, n) as
    if(hidden > 0, sqrt(error ** 2 + hidden / n ** 2), error);

-- The error of a mean from the sum of squares; what rounding leaves of nothing is nothing.
create or replace macro error_of_mean(sum_of_squares, mean, n) as
    sqrt(
        case
            when sum_of_squares - n * mean * mean > 1e-12 * sum_of_squares
                then sum_of_squares - n * mean * mean
            else 0
        end / nullif(n - 1, 0) / nullif(n, 0)
    );

-- Does a text hold a placeholder where something was taken out? pipeline/text.py says the same. The
-- word alone is asked first: it is found seven times as fast.
create or replace macro is_redacted(text) as
    case
        when contains(lower(text), 'redacted') then
            regexp_matches(text, '(?i)(\[|<|\{|\*\*|__)[ \t]*redacted[^\]>}*\n]{0,80}(\]|>|\}|\*\*|__)')
        else false
    end;

-- How many of how many rows of a run lack something.
create or replace macro lack_of(gap_name, n_lacking, n_all) as
    struct_pack(gap := gap_name, n_rows := n_lacking::bigint, n_of := n_all::bigint);

-- How many characters two texts have in common at their beginning; found by halving, up to 131,071.
create or replace macro n_alike(text, other) as
    list_reduce(
        [65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1],
        lambda n, step: if(left(text, n + step) = left(other, n + step), n + step, n),
        0
    );

-- So much of a text: of one that does not fit from shortly before it differs from another.
create or replace macro cut_around(text, other, fits, most) as
    case
        when length(text) <= fits then text
        else list_transform(
            [greatest(n_alike(text, coalesce(other, '')) - 20, 0)],
            lambda start: if(start > 0, '…', '') || substr(text, start + 1, most)
        )[1]
    end;

-- The words of a question, for what is the same question: an object that was asked is written as JSON, and a shell
-- shows the name of its container.
create or replace macro question_words(prompt) as
    trim(regexp_replace(
        regexp_replace(prompt, '@[0-9a-f]{12}\b', '@', 'g'), '(\s|\\[nrt])+', ' ', 'g'
    ));

-- The sentences and lines of a question; long ones end somewhere.
create or replace macro question_parts(prompt) as
    regexp_extract_all(left(prompt, 50000), '(?s).+?(?:[.!?]\s+|[A-Za-z]:\s+|\n+|$)');

-- What a card shows of a question: what is particular to it. Neither what all others of the benchmark begin
-- with, where that is long, nor sentences that most of them have, by their hashes; nor the name of the task alone.
-- `task` is a row of staging.tasks.
create or replace macro own_question(prompt, task_id, task) as
    list_transform(
        [case
            when list_transform(
                [list_transform([left(prompt, 400), task_id], lambda part: bare_text(part))],
                lambda bare: contains(bare[1], bare[2]) and length(bare[1]) <= length(bare[2]) + 20
            )[1]
                then null
            when contains(prompt, task.question) then if(starts_with(prompt, task.question), '', '…') || task.question
            when task.own_start <= 60 then prompt
            when task.own_start > 60 then '…' || substr(prompt, task.own_start + 1)
        end],
        lambda rest: coalesce(
            nullif(regexp_replace(
                regexp_replace(
                    array_to_string(
                        list_transform(
                            question_parts(rest),
                            lambda part: if(list_contains(task.shared_parts, hash(trim(part, ' …' || chr(10)))), chr(1), part)
                        ),
                        ''
                    ),
                    '[…\s]*\x01[…\s\x01]*',
                    ' … ',
                    'g'
                ),
                '^[ …]+$|[ …]+$',
                ''
            ), ''),
            rest
        )
    )[1];

-- A text whose line breaks and tabs can be seen on one line; blanks too, where they are what matters.
create or replace macro visible_space(text, with_blanks) as
    list_transform(
        [replace(replace(text, chr(10), '⏎'), chr(9), '⇥')],
        lambda shown: if(with_blanks, replace(shown, ' ', '␣'), shown)
    )[1];

-- The fields in which two JSON objects differ, each value cut around what differs; null where one is none.
create or replace macro argument_differences(fields, other_fields, most) as
    case when fields is not null and other_fields is not null then list_transform(
        list_filter(
            list_sort(list_distinct(list_concat(map_keys(fields), map_keys(other_fields)))),
            lambda name: fields[name] is distinct from other_fields[name]
        )[:20],
        lambda name: {
            name: left(name, 120),
            one: cut_around(fields[name]::varchar, other_fields[name]::varchar, most, most),
            other: cut_around(other_fields[name]::varchar, fields[name]::varchar, most, most)
        }
    ) end;

-- An event beside another, on one line of a page: whole where it is short, else the arguments in which
-- two calls differ, else from where it differs.
create or replace macro event_shown(event, other, arguments) as
    case when event.seq is not null then left(
        concat_ws(
            ' ',
            event.called,
            case
                when greatest(length(event.content), length(other.content)) + length(coalesce(event.called, '')) < 110
                    then event.content
                when len(arguments) > 0 then array_to_string(arguments, '; ')
                else cut_around(
                    event.content, if(event.called is not distinct from other.called, other.content, null), 60, 300
                )
            end
        ),
        300
    ) end;

-- What a short text says of a check: true, false, or null where it is no verdict.
create or replace macro is_verdict(text) as
    case
        when lower(text) in ('true', 'passed', 'pass', 'passing', 'ok', 'success', 'correct', 'met', 'yes', 'resolved', '1', '1.0')
            then true
        when lower(text) in ('false', 'failed', 'fail', 'failing', 'failure', 'error', 'incorrect', 'not met', 'unmet', 'no', 'unresolved', '0', '0.0')
            then false
    end;

-- Do harnesses call a field so that says how an attempt ended? pipeline/analysis/modes.py has the same rule.
create or replace macro is_end_name(path) as
    regexp_matches(
        lower(path),
        '(^|[._])(error|exception|failure|termination|stop|exit|finish|end)'
        || '(_?(reason|message|msg|condition|mode|kind|type|status|details?|cause))?$'
    );

-- Does a field of a row say why an attempt ended, or failed? An error says so itself; other words only where harnesses
-- call the field so, and one word only where it is not how attempts usually end.
create or replace macro is_reason(name, value) as
    text_failed(left(value, 400))
    or regexp_matches(value, '^[A-Za-z_.]*(Error|Exception)\b')
    or is_end_name(name)
    and is_verdict(value) is null
    and lower(value) not in (
        'none', 'null', 'other', 'unknown', 'unset', 'n/a', 'stop', 'stopped', 'end', 'end_turn', 'stop_sequence', 'eos', 'done', 'complete',
        'completed', 'finished', 'finish', 'submitted', 'user_stop', 'agent_stop', 'tool_calls', 'tool_use'
    );

-- A number between 0 and 1 beside a name is a score only where it is called one: weights look alike.
create or replace macro is_score_name(key) as
    regexp_matches(lower(key), '(score|reward|grade)$');

-- What a name says of a version: v2, a date, 4.1. A time of day makes a date the time of a run, which repeats have.
create or replace macro name_versions(name) as
    array_to_string(
        regexp_extract_all(
            regexp_replace(
                lower(name), '\d{4}[-_]?\d{2}[-_]?\d{2}[-_t]+\d{2}[-_:]?\d{2}([-_:.]?\d+)*', '', 'g'
            ),
            '(?:^|[^a-z0-9.])(v\d+(?:\.\d+)*|\d{4}-\d{2}-\d{2}|20\d{6}|\d+(?:\.\d+)+)',
            1
        ),
        ' '
    );

-- The words of a name but its versions and times: each with the number that follows it, which may be that of a second
-- version. Left out are the `known` names, hashes, and what numbers repeats: run-2, seed_1, s3.
create or replace macro name_words(name, known) as
    list_filter(
        regexp_extract_all(
            list_reduce(
                list_transform(
                    list_filter(known::varchar[], lambda each: each <> ''),
                    lambda each: '-' || regexp_replace(lower(each), '[^\p{L}\p{N}]+', '-', 'g') || '-'
                ),
                lambda rest, each: replace(rest, each, '--'),
                '-' || regexp_replace(
                    regexp_replace(
                        lower(name),
                        '\d{4}[-_]?\d{2}[-_]?\d{2}([-_t]+\d{2}[-_:]?\d{2}([-_:.]?\d+)*)?|\bv?\d+(\.\d+)+|\bv\d+\b'
                        || '|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
                        '--',
                        'g'
                    ),
                    '[^\p{L}\p{N}-]+',
                    '-',
                    'g'
                ) || '-'
            ),
            -- Letters, digits and hyphens are all that is left: to name their classes again takes long to compile.
            '-([^-]*\p{L}[^-]*(?:-\d{1,5}\b)*)',
            1
        ),
        lambda word: not regexp_matches(
            word,
            '^(run|seed|trial|rep|repeat|attempt|try|sample|round|job|shard|part|r|s)s?-?[\d-]*$'
        )
        and not (length(word) >= 20 and not contains(word, '-'))
        and not (regexp_matches(word, '^[0-9a-f]{6,}$') and regexp_matches(word, '\d'))
    );

-- A grade that is a word: formats put it into `grade` where it is no number.
create or replace macro is_word_grade(path, item_no, kind) as
    path = 'grade' and item_no = 0 and kind = 'VARCHAR';

-- A Python literal with the quotes and constants of JSON; what is in a string stays as it is.
create or replace macro json_of_python(text) as
    array_to_string(
        list_transform(
            regexp_extract_all(text, '"(?:[^"\\]|\\.)*"|''(?:[^''\\]|\\.)*''|[^"'']+|["'']'),
            lambda piece: case
                when starts_with(piece, chr(39)) and length(piece) > 1
                    then '"' || replace(replace(piece[2:-2], '\' || chr(39), chr(39)), '"', '\"') || '"'
                when starts_with(piece, '"') then piece
                else replace(replace(replace(piece, 'True', 'true'), 'False', 'false'), 'None', 'null')
            end
        ),
        ''
    );

-- A text as JSON, also where it is written as Python writes it; null where it is neither.
create or replace macro json_of(text) as
    case
        when json_valid(text) then text::json
        else try_cast(json_of_python(text) as json)
    end;

-- Arguments of a call for comparing: keys in order on every level, nothing for null; text as it is where
-- it is no object.
create or replace macro comparable_arguments(arguments) as
    coalesce(
        json_from_entries(list_transform(
            list_sort(list_filter(
                map_entries(json_fields(json_normalize(json_of(arguments)))),
                lambda entry: entry.value is not null
            )),
            -- The order of a list does not matter, nor whether it is written as a text.
            lambda entry: {
                key: entry.key,
                value: list_transform(
                    [if(
                        regexp_matches(entry.value, '^"\s*[\[{]'),
                        coalesce(json_of(json_as_text(entry.value)), entry.value),
                        entry.value
                    )],
                    lambda value: if(
                        starts_with(value, '['), to_json(list_sort(from_json(value, '["JSON"]'))), value
                    )
                )[1]
            }
        )),
        arguments,
        '{}'
    );

-- Do a failure and a pass go other ways from their first call on? Then the first of many differences, as of
-- agents that write commands, says nothing.
create or replace macro is_other_way(pair) as
    pair.difference in ('tool', 'arguments')
    and pair.n_common_first = 0
    and 10 * (pair.n_common + 1) <= least(pair.n_calls, pair.n_passing_calls);

-- A hash of two values that sums of rows can be made of. The engine combines hashes of several values so that equal
-- values in an even number of rows cancel each other out.
create or replace macro mixed_hash(one, other) as
    hash(hash(one, other));

-- Is a field called like a grader's explanation of its verdict? A model's own `reasoning` is none.
create or replace macro is_explanation_name(path) as
    regexp_matches(
        lower(path),
        '(^|[._])(rationale|explanation|feedback|critique|justification|evaluation)$'
        || '|(judge|judgment|judgement|grader|grading|evaluation|evaluator|eval|verdict|score|layer\d)[._]?'
        || '(reason|reasoning|comment|response|output|text|notes?)$'
    );

-- The names under which formats record the answer that is right.
create or replace macro is_key_name(path) as
    path in ('target', 'expected_answer', 'ground_truth', 'possible_answer', 'answer_key', 'reference_answer');
