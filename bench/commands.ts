/** The answer of a program that was asked to do something by a message. */
export type Reply<Result> = { result: Result } | { error: string };

/** Answers the commands of the program that has started this one, and ends with it. */
export function answerCommands<Command, Result>(
  execute: (command: Command) => Promise<Result>,
  describe: (command: Command) => string,
): void {
  const reply = (message: Reply<Result>): void => void process.send?.(message);
  process.on('message', (command: Command) => {
    execute(command).then(
      (result) => reply({ result }),
      (error: unknown) =>
        reply({ error: `${describe(command)}: ${error instanceof Error ? error.message : 'failed'}` }),
    );
  });
  process.on('disconnect', () => process.exit());
}
