import { readFileSync } from 'node:fs';

const COMMON = new Set(
  readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8').split(/\r?\n/),
);

/** Ignores letter case (OWASP ASVS 6.2.4). */
export function isCommonPassword(normalized: string): boolean {
  return normalized !== '' && COMMON.has(normalized.toLowerCase());
}
