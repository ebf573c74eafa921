import { readFileSync } from 'node:fs';

const TEXTS = readFileSync(new URL('./descriptions.txt', import.meta.url), 'utf8');

export const DESCRIPTIONS: Record<string, string | undefined> = Object.fromEntries(
  [...TEXTS.matchAll(/^([\w.]+): (.+)$/gm)].map(([, name, text]) => [name!, text]),
);
