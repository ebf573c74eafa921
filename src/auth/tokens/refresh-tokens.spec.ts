import { expect, it } from 'vitest';
import { newEntityId } from '../../identifiers/entity-id.js';
import type { KeyFileWatch } from './key-file-watch.js';
import { KeyRing, keySetText, newJwk, readKeySet } from './signing-keys.js';
import { RefreshTokens } from './token-issuer.js';

const [OLD, NEW] = [newJwk(), newJwk()];
const UNCHANGED_FILE = { lookForUnknownKey: () => Promise.resolve() } as KeyFileWatch;
const tokensOf = (...keys: (typeof OLD)[]): RefreshTokens =>
  new RefreshTokens(new KeyRing(readKeySet(keySetText(keys))), UNCHANGED_FILE);
const TOKEN = { sessionId: newEntityId(), generation: 7 };

it('reads what it wrote, before and after a rotation of the keys', async () => {
  const text = tokensOf(OLD).write(TOKEN);
  expect(await tokensOf(OLD).read(text)).toEqual(TOKEN);
  expect(await tokensOf(NEW, OLD).read(text)).toEqual(TOKEN);
  expect(await tokensOf(NEW).read(text)).toBeUndefined();
});

it('holds what its pattern says, however old the session is', async () => {
  const text = tokensOf(OLD).write({ ...TOKEN, generation: 2_147_483_647 });
  expect(await tokensOf(OLD).read(text)).toEqual({ ...TOKEN, generation: 2_147_483_647 });
});

it('refuses a token with any character changed, left out or added', async () => {
  const tokens = tokensOf(OLD);
  const text = tokens.write(TOKEN);
  for (let place = 0; place < text.length - 1; place += 1) {
    const changed = text[place] === '1' ? '2' : '1';
    expect(await tokens.read(text.slice(0, place) + changed + text.slice(place + 1))).toBeUndefined();
    expect(await tokens.read(text.slice(0, place) + text.slice(place + 1))).toBeUndefined();
    expect(await tokens.read(`${text.slice(0, place)}1${text.slice(place)}`)).toBeUndefined();
  }
});
