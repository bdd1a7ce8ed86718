"""What pyproject.toml cannot say: in a wheel the data files lie inside the package."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["blade", "pipeline*"]),
        *("pipeline.sql", "pipeline.report_templates"),
    ],
    package_dir={"pipeline.sql": "sql", "pipeline.report_templates": "report_templates"},
    package_data={
        "": ["py.typed"],
        "pipeline": ["**/*.toml", "**/*.sql"],
        "pipeline.sql": ["**/*.sql"],
        "pipeline.report_templates": ["**/*.j2", "**/*.css", "**/*.js", "**/*.svg"],
    },
)
