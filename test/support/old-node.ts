import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { OLDEST_NODE } from '../../src/node-version.js';

/** A Node on the PATH that is too old for the service; undefined where there is none. */
export function findOldNode(): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'node'))
    .find((program) => isExecutable(program) && majorOf(program) < OLDEST_NODE);
}

function majorOf(program: string): number {
  return Number.parseInt(execFileSync(program, ['--version']).toString().slice(1), 10);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
