import { opendirSync } from 'node:fs';
import type { Format } from './readers.js';

export type PwnedPasswords = { kind: 'directory'; path: string } | { kind: 'api'; url: string };

const RANGE_FILE = /^[0-9A-F]{5}\.txt$/;

export const PWNED_PASSWORDS: Format<PwnedPasswords> = {
  expected:
    'a directory with range files (00000.txt to FFFFF.txt), or the http:// or https:// URL of a range API without ' +
    'user, password and query',
  parse: (text) => (/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? rangeApi(text) : rangeFiles(text)),
};

function rangeApi(text: string): PwnedPasswords | undefined {
  const url = URL.parse(text);
  const isPlain = url && /^https?:$/.test(url.protocol) && !/[?#\s]/.test(text);
  if (!isPlain || url.username !== '' || url.password !== '') return undefined;
  url.pathname = `${url.pathname.replace(/(?:\/range)?\/*$/, '')}/range/`;
  return { kind: 'api', url: url.href };
}

function rangeFiles(path: string): PwnedPasswords | undefined {
  try {
    const directory = opendirSync(path);
    let entry = directory.readSync();
    while (entry && !RANGE_FILE.test(entry.name)) entry = directory.readSync();
    directory.closeSync();
    return entry ? { kind: 'directory', path } : undefined;
  } catch {
    return undefined;
  }
}
