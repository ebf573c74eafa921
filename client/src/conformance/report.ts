import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Outcome, play } from './play.ts';
import { requireScript, ScriptError } from './read-script.ts';
import type { Script } from './script.ts';

const AT_ONCE = 4;
const OWN = fileURLToPath(new URL('scripts/', import.meta.url));
const USAGE =
  'Usage: accounts-guard conformance [--only IDS] [--json] [--list] [--scripts DIR] -- COMMAND [ARGUMENT...]';
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

type Print = (line: string) => void;

/** A file has one script or a list of them. @throws ScriptError */
export function readScripts(folder = OWN): Script[] {
  const scripts = namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .flatMap((name) => readFile(join(folder, name)));
  const twice = scripts.find(({ id }, index) => scripts.findIndex((one) => one.id === id) !== index);
  if (twice) throw new ScriptError(`${folder}: two scripts have the id "${twice.id}"`);
  return scripts;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw new ScriptError(`--scripts: ${(error as Error).message}`);
  }
}

function readFile(file: string): Script[] {
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return [read].flat().map(requireScript);
  } catch (error) {
    throw new ScriptError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Returns the exit code: 1 if a script failed, 2 if nothing could be tested. */
export async function conformance(args: string[], print: Print, warn: Print): Promise<number> {
  try {
    const { only, json, list, scripts: folder, command } = optionsIn(args);
    const ids = only?.split(',');
    const all = readScripts(folder);
    const unknown = ids?.find((id) => !all.some((script) => script.id === id));
    if (unknown !== undefined) throw new ScriptError(`--only: no script has the id "${unknown}"`);
    const scripts = all.filter(({ id }) => ids?.includes(id) ?? true);
    if (list) {
      for (const { id, rule, why } of scripts) print(`${rule.padEnd(4)} ${id.padEnd(32)} ${why}`);
      return 0;
    }
    if (command.length === 0) throw new ScriptError(USAGE);
    return await test(scripts, command, json, print, warn);
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    warn(error.message);
    return 2;
  }
}

function optionsIn(args: string[]) {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const [text, flag] = [{ type: 'string' }, { type: 'boolean', default: false }] as const;
  const options = { only: text, scripts: text, json: flag, list: flag };
  try {
    const { values } = parseArgs({ args: args.slice(0, end), options });
    return { ...values, command: args.slice(end + 1) };
  } catch (error) {
    throw new ScriptError(`${(error as Error).message}\n${USAGE}`);
  }
}

async function test(
  scripts: Script[],
  command: string[],
  json: boolean,
  print: Print,
  warn: Print,
): Promise<number> {
  // Node then kills the processes and removes the folders of the scripts under way.
  for (const [signal, code] of Object.entries(SIGNALS)) process.once(signal, () => process.exit(code));
  const outcomes: Outcome[] = [];
  const left = scripts.values();
  let isSilent = false;
  const run = async (): Promise<void> => {
    for (const script of left) {
      const outcome = await play(script, command);
      outcomes.push(outcome);
      if (json) print(JSON.stringify(outcome));
      else for (const line of linesOf(outcome, script)) print(line);
      isSilent = outcomes.length >= AT_ONCE && outcomes.every(({ step }) => step === 0);
      if (isSilent) return;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  if (outcomes.every(({ step }) => step === 0)) {
    warn(`COMMAND never answered: ${outcomes[0]?.answer ?? 'there is no script'}`);
    return 2;
  }
  const failed = outcomes.filter(({ passed }) => !passed).length;
  if (!json) print(`${outcomes.length - failed} of ${outcomes.length} scripts passed`);
  return failed === 0 ? 0 : 1;
}

function linesOf({ id, rule, passed, step, answer, expected }: Outcome, { why }: Script): string[] {
  const first = `${passed ? 'passed' : 'FAILED'}  ${rule.padEnd(4)} ${id}`;
  if (passed) return [first];
  return [first, `        step ${step}: got ${answer}, expected ${expected}`, `        ${why}`];
}
