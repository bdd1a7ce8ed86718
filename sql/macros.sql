-- What only DuckDB can say, in one place: reading JSON, and sums that repeat themselves to the last
-- digit. Another engine brings its own versions.

-- Values arrive as JSON text, which says by its first character what it is: no parser is needed.

-- The text of a JSON scalar; null for null, objects and lists.
create or replace macro json_as_text(value) as
    case left(value, 1)
        when '"' then value ->> '$'
        when '{' then null
        when '[' then null
        when 'n' then null
        else value::varchar
    end;

-- A JSON number; null for anything else, true and "1.0" included, and for what is not finite.
create or replace macro json_as_number(value) as
    case
        when regexp_matches(value, '^-?[0-9]')
            and isfinite(try_cast(value::varchar as double))
            then try_cast(value::varchar as double)
    end;

-- A JSON number, or true and false as 1 and 0: what a verifier may have measured.
create or replace macro json_as_measure(value) as
    case value::varchar
        when 'true' then 1.0::double
        when 'false' then 0.0::double
        else json_as_number(value)
    end;

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

-- A JSON true or false.
create or replace macro json_as_boolean(value) as
    case when value::varchar in ('true', 'false') then value::varchar = 'true' end;

-- The text of one field of a JSON object, where it is a scalar.
create or replace macro json_field(value, name) as
    json_as_text(json_extract(value, '$."' || name || '"'));

-- The number in one field of a JSON object.
create or replace macro json_field_number(value, name) as
    json_as_number(json_extract(value, '$."' || name || '"'));

-- The count in one field of a JSON object.
create or replace macro json_field_count(value, name) as
    json_as_index(json_extract(value, '$."' || name || '"'));

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
    or coalesce(answer.isError::varchar = 'true', false)
    or coalesce(answer.is_error::varchar = 'true', false)
    or coalesce(answer.success::varchar = 'false', false);

create or replace macro text_failed(beginning) as
    regexp_matches(
        beginning,
        '^\s*["(\[]?\s*('
        || '(?i:((tool|execution|runtime|validation|http|syntax|database) )?error)'
        || '\s*([:!(\[-]|\d|executing|calling|while |in )'
        || '|(?i:fatal|exception)\s*:'
        || '|Traceback \(most recent call last\)'
        || '|[A-Z]\w*(Error|Exception)\b\s*[:(]'
        || '|(?i:command (failed|timed out|not found))'
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

-- A model's name; null for the placeholders that servers and simulators write in its place.
create or replace macro model_name(name) as
    case
        when lower(trim(name)) not in
            ('', 'model', 'policy_model', 'synthetic', 'none', 'null', 'unknown')
            then trim(name)
    end;

-- Text that is JSON already, as a JSON value.
create or replace macro as_json(text) as text::json;

-- Only characters that are safe in a folder's name.
create or replace macro safe_name(name) as
    regexp_replace(name, '[^A-Za-z0-9._-]+', '-', 'g');

-- A name and a value as they stand in a JSON object: a number bare, anything else as a string.
create or replace macro json_pair(name, value) as
    json_quote(name)::varchar || ': '
    || case when isfinite(try_cast(value as double)) then value else json_quote(value)::varchar end;

-- Floats in a fixed order, and their sum: the last digit must not depend on the threads.
create or replace macro sorted_list(value) as list(value order by value);

create or replace macro sorted_sum(value) as list_sum(list(value order by value));

create or replace macro list_total(numbers) as list_sum(numbers);

-- The product of the factors so far, within n and m.
create or replace macro running_product(factor, n, m, k) as
    product(factor) over (partition by n, m order by k);

-- A quantile of a sorted list, between neighbours by distance.
create or replace macro sorted_quantile(sorted, q) as
    sorted[cast(floor(q * (length(sorted) - 1)) as bigint) + 1]
    + (q * (length(sorted) - 1) - floor(q * (length(sorted) - 1)))
    * (
        sorted[cast(ceil(q * (length(sorted) - 1)) as bigint) + 1]
        - sorted[cast(floor(q * (length(sorted) - 1)) as bigint) + 1]
    );

create or replace macro square(value) as value * value;

-- The answer that a verifier took from the output, under the names verifiers give it.
create or replace macro extracted_answer(verifier) as
    list_filter(
        list_transform(
            json_extract(verifier, [
                '$.extracted_answer', '$.predicted_answer', '$.parsed_answer', '$.extracted_label',
                '$.predicted_label', '$.extracted', '$.predicted'
            ]),
            lambda value: json_as_text(value)
        ),
        lambda value: value is not null
    )[1];

-- A field of a row by its JSON path; the components of a reward stand apart from the rest.
create or replace macro row_field(verifier, reward_components, path) as
    case
        when starts_with(path, '$."reward_components".')
            then json_extract(reward_components, '$' || path[22:])
        else json_extract(verifier, path)
    end;

-- A group's values, ascending: floats are summed in this order, so that every run agrees.
create or replace macro ascending(value) as
    list(value order by value) filter (where value is not null);

-- A group's values in the order of a key.
create or replace macro values_by(value, key) as list(value order by key);

-- Statistics of a list, taken in the list's order; the sample deviation of one value is null.
create or replace macro mean_of(numbers) as list_aggregate(numbers, 'fsum') / len(numbers);
create or replace macro median_of(numbers) as list_median(numbers)::double;
create or replace macro deviation_of(numbers) as list_stddev_samp(numbers);

-- The first k of a list.
create or replace macro first_of(numbers, k) as numbers[1:k];

-- The chance that k of n attempts, of which n_passed passed, hold a pass; null where n < k.
create or replace macro pass_chance(n, n_passed, k) as
    case
        when n < k then null
        when n - n_passed < k then 1.0::double
        else 1.0::double - list_product(
            list_transform(range(k), lambda i: (n - n_passed - i)::double / (n - i))
        )
    end;
