"""What pyproject.toml cannot say: in a wheel everything is inside the one package `blade`."""

import sys

from setuptools import find_packages, setup

packages = find_packages(include=["blade", "pipeline*"])
if "editable_wheel" in sys.argv:
    # For development `pipeline` stays beside `blade`, where the tests import it.
    setup(packages=packages)
else:
    folders = ["pipeline", "sql", "report_templates"]
    inside = [name for name in packages if name != "blade"] + folders[1:]
    setup(
        packages=["blade", *(f"blade.{name}" for name in inside)],
        package_dir={f"blade.{name}": name for name in folders},
        package_data={
            "": ["py.typed"],
            "blade.pipeline": ["**/*.toml", "**/*.sql"],
            "blade.sql": ["**/*.sql"],
            "blade.report_templates": ["**/*.j2", "**/*.css", "**/*.js", "**/*.svg"],
        },
    )
