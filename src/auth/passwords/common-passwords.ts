import { readFileSync } from 'node:fs';

const COMMON = new Set(
  readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8').split(/\r?\n/),
);

/**
 * Whether the whole password, in any letter case, is one of the shipped most common ones (OWASP ASVS 6.2.4).
 * A phrase that only contains one is not. The input is the result of `normalizePassword`.
 */
export function isCommonPassword(normalized: string): boolean {
  return normalized !== '' && COMMON.has(normalized.toLowerCase());
}
