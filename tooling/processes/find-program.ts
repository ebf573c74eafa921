import { accessSync, constants } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** Servers live in `sbin`, which is seldom on an ordinary user's PATH: it is searched beside each `bin`. */
export function findProgram(name: string): string | undefined {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  const places = [...path, ...path.map((directory) => resolve(directory, '../sbin')), '/usr/sbin', '/sbin'];
  return places.map((place) => join(place, name)).find((file) => isAccessible(file, constants.X_OK));
}

/** @throws Error that names the program when it is not installed */
export function requireProgram(name: string): string {
  const file = findProgram(name);
  if (file === undefined) throw new Error(`${name} is not installed`);
  return file;
}

export function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
