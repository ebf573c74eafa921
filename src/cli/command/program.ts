import { Command, CommanderError, Option } from 'commander';
import { VERSION } from '../../config/env.js';
import {
  type CommandDefinition,
  type CommandGroup,
  Invocation,
  RestoredDatabaseError,
  write,
} from './definition.js';

export interface Commands {
  groups: readonly CommandGroup[];
  commands: readonly CommandDefinition[];
}

const DONE = 0;
const REFUSED = 1;
const COULD_NOT_RUN = 2;
const RESTORED = 3;
const UNREAD = 141;

const EXIT_CODES = `
Exit codes: 0 done, 1 refused by a rule or faults found, 2 could not run,
3 database restored (events copy), 141 output pipe closed (SIGPIPE).
Configuration: the environment variables of Accounts, or .env in the working directory.`;

export async function runAccounts(parameters: string[], commands: Commands): Promise<number> {
  process.stdout.on('error', endUnread);
  let exitCode = DONE;
  const program = build(commands, (code) => (exitCode = code));
  try {
    await program.parseAsync(parameters, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : COULD_NOT_RUN;
    const { explain } = await import('./explain.js');
    const { lines, isRefusal } = explain(error);
    for (const line of lines) console.error(line);
    if (error instanceof RestoredDatabaseError) return RESTORED;
    return isRefusal ? REFUSED : COULD_NOT_RUN;
  }
}

function build({ groups, commands }: Commands, end: (exitCode: number) => void): Command {
  const program = quiet(new Command('accounts'))
    .description('Manage users, organizations, services and signing keys as an operator.')
    .version(VERSION, '-V, --version', 'print the version')
    .addHelpText('after', EXIT_CODES);
  for (const { name, summary, commands: ofGroup } of groups) {
    const group = quiet(program.command(name)).description(summary);
    for (const command of ofGroup) declare(group, command, end);
  }
  for (const command of commands) declare(program, command, end);
  return program;
}

function quiet(command: Command): Command {
  return command
    .exitOverride()
    .helpCommand(false)
    .enablePositionalOptions()
    .configureOutput({ outputError: (text, print) => print(onOneLine(text)) });
}

/** The nearest option is far from what was meant: --json for --reason. */
function onOneLine(error: string): string {
  return error.replace(/\n(\(Did you mean .*\))/, error.includes('unknown command') ? ' $1' : '');
}

function declare(parent: Command, definition: CommandDefinition, end: (exitCode: number) => void): void {
  const command = quiet(parent.command(definition.usage))
    .summary(definition.summary)
    .description([definition.summary, definition.details].filter(Boolean).join('\n\n'));
  for (const [flags, meaning] of definition.options ?? []) command.option(flags, meaning);
  if (definition.changes) {
    const reason = new Option('--reason <TEXT>', 'reason for the audit log; only operators can read it');
    command.addOption(reason.env('ACCOUNTS_REASON'));
    command.option('--as <NAME>', 'name of the operator in the audit log (default: your system user)');
  }
  const examples = definition.examples.map((example) => `  accounts ${example}`);
  command
    .option('--json', 'one line of JSON for each result')
    .addHelpText('after', ['', 'Examples:', ...examples].join('\n'));
  for (const below of definition.commands ?? []) declare(command, below, end);
  command.action(async () => {
    (await import('@nestjs/common')).Logger.overrideLogger(false);
    const invocation = new Invocation(command.args, command.opts());
    definition.requireArguments?.(invocation);
    // Commander would ask for a mandatory option first, and for what to change next.
    if (definition.changes && command.opts()['reason'] === undefined)
      command.error("error: required option '--reason <TEXT>' not specified");
    const {
      lines,
      json,
      isRed = false,
    } = await definition.run(invocation).finally(() => invocation.endProgress());
    const text = invocation.asJson ? json.map((value) => JSON.stringify(value)) : lines;
    if (text.length > 0) await write(`${text.join('\n')}\n`);
    end(isRed ? REFUSED : DONE);
  });
}

/** If the reader of the output has left, as `head` does, exits as after SIGPIPE: a change may be half done. */
function endUnread(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(UNREAD);
  process.stderr.write(`error: standard output cannot be written (${error.code})\n`);
  process.exit(COULD_NOT_RUN);
}
