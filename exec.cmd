@rem Windows has no exec, by which the start scripts of package.json hand signals on: here it runs the command.
@%*
