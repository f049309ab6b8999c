"""The figures of the paper, drawn from our own data, each with a verdict on its claims.

`catalogue.FIGURES` maps a number to the function that draws the figure; `gallery.draw_figures`
writes the files. Needs matplotlib: `pip install temporal-gaussian-mixture[figures]`.
"""
