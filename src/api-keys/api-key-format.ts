import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'ack_';
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 256 random bits */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const API_KEY = /^ack_[0-9A-Za-z]{49}$/;
/** The lookahead also finds a key that begins in the end of what only looks like one. */
const ANYWHERE = /(?=(ack_[0-9A-Za-z]{49}))/g;

/** The prefix and the checksum let scanners of source code find a leaked key without asking Accounts. */
export function newApiKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => DIGITS[randomInt(DIGITS.length)]).join('');
  return PREFIX + random + checksum(random);
}

export function beginsLikeApiKey(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Costs no query. */
export function isApiKey(text: string): boolean {
  if (!API_KEY.test(text)) return false;
  const random = text.slice(PREFIX.length, -CHECKSUM_LENGTH);
  return text.endsWith(checksum(random));
}

/** Finds the first API key in a text, such as a line of a file. Costs no query. */
export function findApiKeyIn(text: string): string | undefined {
  for (const [, found = ''] of text.matchAll(ANYWHERE)) if (isApiKey(found)) return found;
  return undefined;
}

/** Keys have full entropy, so one pass is enough. The time of a lookup by hash reveals nothing about the key. */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'base64url');
}

function checksum(text: string): string {
  let digits = '';
  for (let rest = crc32(text); digits.length < CHECKSUM_LENGTH; rest = Math.floor(rest / DIGITS.length))
    digits = DIGITS.charAt(rest % DIGITS.length) + digits;
  return digits;
}
