"""The loop from questions that miss to statements that answer them (CogMG, sections 2.2 and 2.3).

`queue` keeps the gaps of questions, `passages` finds texts that may fill them, `completion` reads them, and
`service` lists and decides for the routes and the command line.
"""
