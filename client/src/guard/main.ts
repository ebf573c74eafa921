#!/usr/bin/env node
import { GuardNotReadyError } from '../service/readiness.ts';
import { isMistake, Reasons } from '../service/reasons.ts';
import { guardOf, run } from './run.ts';
import { FLAGS, readSettings, type Settings, shownOf, variableOf, VERSION } from './settings.ts';
import { WrongUsage } from './wrong-usage.ts';

const CHECK_TIMEOUT_MS = 30_000;

function helpText(): string {
  const rows = FLAGS.map(({ name, value, fallback, meaning }) => {
    const flag = `--${name}${value ? ` ${value}` : ''}`;
    return `  ${flag.padEnd(24)} ${meaning}${fallback ? ` (default ${fallback})` : ''}`;
  });
  return [
    'accounts-guard [flags]          decides for a service who may use it, until SIGTERM',
    'accounts-guard check [flags]    asks Accounts for all that the guard needs, and prints each reason against it',
    'accounts-guard conformance [--only IDS] [--json] [--list] [--scripts DIR] -- COMMAND   tests another guard',
    '',
    ...rows,
    `  ${'--help, --version'.padEnd(24)} prints this text, or the version`,
    '',
    `Each flag is also a variable, such as ${variableOf('max-staleness')}. The flag wins.`,
  ].join('\n');
}

async function check(settings: Settings): Promise<number> {
  for (const [name, value] of Object.entries(shownOf(settings))) console.log(`${name}: ${String(value)}`);
  const { protocol, hostname } = new URL(settings.url);
  if (protocol === 'http:' && !/^(?:127\.[\d.]+|\[::1\]|localhost)$/.test(hostname))
    console.log('warning: --url is plain HTTP to another machine, so that others can read the secret');
  const reasons = new Reasons(settings.service, settings.url);
  let isWaiting = false;
  const guard = guardOf(settings, {
    log: { warn: () => undefined },
    onFeedProblem: (problem) => {
      if (isWaiting || isMistake(problem)) return;
      isWaiting = true;
      console.error(`${reasons.of(problem)}: waiting up to ${CHECK_TIMEOUT_MS / 1000} seconds`);
    },
  });
  try {
    await guard.ready({ timeoutMs: CHECK_TIMEOUT_MS });
    console.log('The guard would admit users');
    return 0;
  } catch (error) {
    if (!(error instanceof GuardNotReadyError)) throw error;
    for (const reason of error.reasons) console.log(reason);
    return 1;
  } finally {
    await guard.close();
  }
}

async function main([command, ...rest]: string[]): Promise<number> {
  if (command === 'conformance')
    return (await import('../conformance/report.ts')).conformance(rest, console.log, console.error);
  const isCheck = command === 'check';
  const argv = isCheck ? rest : process.argv.slice(2);
  if (argv.includes('--help')) return print(helpText());
  if (argv.includes('--version')) return print(VERSION);
  try {
    const settings = readSettings(argv, process.env);
    if (isCheck) return await check(settings);
    await run(settings);
    return 0;
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    for (const line of error.lines) console.error(`accounts-guard: ${line}`);
    return 2;
  }
}

function print(text: string): number {
  console.log(text);
  return 0;
}

void main(process.argv.slice(2)).then((code) => process.exit(code));
