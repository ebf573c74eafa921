import { createHash } from 'node:crypto';
import { beginsLikeApiKey } from './api-key-form.ts';
import type { BoundedCalls } from './bounded-calls.ts';
import type { Changes } from './changes.ts';
import { DIRECT, KEYS_OF_SERVICE, type KeyClaims, type KeyToken, linksOfKey, readKey } from './claims.ts';
import { RecentlyUsed } from './recently-used.ts';
import { REFUSED_KEY_MS, sessionOf } from './sessions.ts';
import { SharedReads } from './shared-reads.ts';
import type { LiveSession } from './tokens.ts';

/** Accounts shows to the hour when a key was last used. */
const ASKED_AGAIN_MS = 3_600_000;
/** A wrong key that is forgotten is asked about again. */
const REFUSED = 20_000;

/** An API key that Accounts described as active. */
export interface KnownKey extends KeyToken {
  session: LiveSession;
  askedAgainAt: number;
}

interface Refused {
  readAt: number;
  until: number;
  links: readonly string[];
}

/** Asks about each API key once, after the feed reports a change of the key, its user or this service, and once an hour. */
export class ApiKeys {
  /** By the hash of the key, so that a dump of the memory shows no key that is not in use. */
  private readonly known: RecentlyUsed<KnownKey>;
  private readonly refused = new RecentlyUsed<Refused>(REFUSED);
  private readonly reads: SharedReads<KnownKey | undefined>;
  private readonly calls: BoundedCalls;
  private readonly changes: Changes;

  constructor(calls: BoundedCalls, changes: Changes, limit: number) {
    this.calls = calls;
    this.changes = changes;
    this.known = new RecentlyUsed(limit);
    this.reads = new SharedReads(changes);
  }

  /** Returns a key that is active by what the feed has reported. */
  findKnown(key: string): KnownKey | undefined {
    if (!beginsLikeApiKey(key)) return undefined;
    const hash = hashOf(key);
    const known = this.known.get(hash);
    if (known === undefined || this.isOver(known)) return undefined;
    if (this.changes.isVoid(known.session.readAt, ...known.links)) return undefined;
    if (performance.now() >= known.askedAgainAt) this.askAgain(key, hash, known);
    return known;
  }

  /**
   * @returns undefined if the key is not active
   * @throws Unavailable
   */
  async find(key: string): Promise<KnownKey | undefined> {
    const current = this.findKnown(key);
    if (current) return current;
    const hash = hashOf(key);
    const known = this.known.get(hash);
    if (known && this.isOver(known)) return undefined;
    return this.isRefused(hash) ? undefined : this.read(key, hash, known);
  }

  private isOver({ claims, key }: KnownKey): boolean {
    return Date.now() >= claims.exp * 1000 || this.changes.find(key.id)?.ended === true;
  }

  private isRefused(hash: string): boolean {
    const refused = this.refused.get(hash);
    if (refused === undefined || this.changes.isVoid(refused.readAt, ...refused.links)) return false;
    return performance.now() < refused.until;
  }

  /** In the background, because the feed would have reported a change. */
  private askAgain(key: string, hash: string, known: KnownKey): void {
    known.askedAgainAt = performance.now() + ASKED_AGAIN_MS;
    this.read(key, hash, known).catch(() => undefined);
  }

  private async read(key: string, hash: string, known: KnownKey | undefined): Promise<KnownKey | undefined> {
    const { position } = this.changes;
    const links = [...(known?.links ?? [KEYS_OF_SERVICE])];
    const read = await this.reads.read(hash, links, async (readAt) => {
      const answer = await this.introspect(key, readAt, known === undefined);
      // Only the answer names what an unknown key depends on. It counts if none of these changed meanwhile.
      if (answer) links.push(...answer.links);
      return answer;
    });
    if (read) this.known.set(hash, read);
    else {
      this.known.delete(hash);
      this.refused.set(hash, { readAt: position, until: performance.now() + REFUSED_KEY_MS, links });
    }
    return read && this.isOver(read) ? undefined : read;
  }

  private async introspect(
    token: string,
    readAt: number,
    isUnknownKey: boolean,
  ): Promise<KnownKey | undefined> {
    const askedAgainAt = performance.now() + ASKED_AGAIN_MS;
    const answer = await this.calls.read((client, options) => client.introspectToken({ token }, options), {
      isUnknownKey,
    });
    const key = readKey(answer.key);
    if (!answer.active || key === undefined) return undefined;
    const { iss, aud, client_id, sub, iat, exp } = answer;
    const claims = { iss, aud, client_id, sub, iat, exp, key: answer.key } as KeyClaims;
    return {
      key,
      claims,
      via: DIRECT,
      links: linksOfKey(key, claims.sub),
      session: sessionOf(answer, readAt),
      askedAgainAt,
    };
  }
}

export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');
