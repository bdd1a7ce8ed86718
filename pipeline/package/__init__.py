"""A curated report and its data.

`blocks` and `passages` read the report, `sources` its comments; `queries` runs their queries;
`compare`, `evidence`, `arithmetic`, `facts` and `sidecar` yield `findings`. Commands begin in
`verify`, `diff`, `fact_drafts`, `score`, `calibration`, `shallow`, `sanitize` and `validate`, blade
report in `refresh` and `page`, blade init in `scaffold`.
"""
