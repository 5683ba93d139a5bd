"""Side-by-side measurements of the engine: `python -m benchmarks [NAME…]`.

Every number is a ratio of things done in the same run, beside what the target asks. What is timed is
checked as well: a benchmark that lands the wrong commits fails. Nothing is written into the checkout.
"""
