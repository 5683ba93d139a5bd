# -*- coding: utf-8 -*-
"""Adds up what a household spends."""

__version__ = "1.4.0"
