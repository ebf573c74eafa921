import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { inspect } from '../../src/cli/doctor/doctor.js';
import { parseEnv } from '../../src/config/env.js';
import { COMPILE_CACHE } from './compile-cache.js';
import type { Installation } from './installation.js';

const CLI = resolve(import.meta.dirname, '../../dist/cli/main.js');

export interface Examination {
  code: number;
  lines: string[];
  errors: string;
}

/** The claims that the doctor's checks find untrue, run in this process: of dozens, each process would cost the most. */
export async function untrueClaims({ env }: Pick<Installation, 'env'>): Promise<string[]> {
  const findings = await inspect(parseEnv(env));
  return findings.filter(({ faults }) => faults.length > 0).map(({ check }) => check.claim);
}

/** Runs the built doctor on an installation, with a Node other than our own if one is named. */
export async function examine(
  installation: Pick<Installation, 'directory' | 'env'>,
  env: Record<string, string> = {},
  node = process.execPath,
): Promise<Examination> {
  const doctor = spawn(node, [CLI, 'doctor'], {
    cwd: installation.directory,
    env: { PATH: process.env['PATH'], ...COMPILE_CACHE, ...installation.env, ...env },
  });
  const [out, errors, [code]] = await Promise.all([
    text(doctor.stdout),
    text(doctor.stderr),
    once(doctor, 'close'),
  ]);
  return { code: code as number, lines: out.trim().split('\n'), errors };
}
