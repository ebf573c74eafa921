import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { ServiceClient } from './client.ts';
import { Unavailable } from './unavailable.ts';

/** An attacker can create tokens with unknown keys. They cause at most one request in this time. */
const LEAST_PAUSE_MS = 5_000;
const REFRESHED_AFTER_MS = 300_000;

interface Loaded {
  kids: Set<string>;
  key: JWTVerifyGetKey;
}

/** The public keys of Accounts. */
export class KeySet {
  private loaded: Loaded | undefined;
  private loading: Promise<Loaded> | undefined;
  private loadedAt = Number.NEGATIVE_INFINITY;
  private readonly client: Pick<ServiceClient, 'getKeySet'>;
  private readonly signal: AbortSignal;
  private readonly onRemoved: () => void;

  /** @param onRemoved Called when a key was removed, so that tokens signed by it are no longer valid. */
  constructor(client: Pick<ServiceClient, 'getKeySet'>, signal: AbortSignal, onRemoved: () => void) {
    this.client = client;
    this.signal = signal;
    this.onRemoved = onRemoved;
  }

  /** @throws Unavailable if the keys cannot be fetched */
  async find(kid: string): Promise<JWTVerifyGetKey | undefined> {
    let loaded = this.loaded ?? (await this.load());
    if (!loaded.kids.has(kid) && performance.now() - this.loadedAt >= LEAST_PAUSE_MS) {
      loaded = await this.load();
    }
    return loaded.kids.has(kid) ? loaded.key : undefined;
  }

  /** Detects removed keys. Call it regularly. */
  refresh(): void {
    if (this.loaded && performance.now() - this.loadedAt >= REFRESHED_AFTER_MS)
      this.load().catch(() => undefined);
  }

  private load(): Promise<Loaded> {
    this.loading ??= this.fetch().finally(() => (this.loading = undefined));
    return this.loading;
  }

  private async fetch(): Promise<Loaded> {
    const answer = await this.client.getKeySet(undefined, { signal: this.signal });
    this.loadedAt = performance.now();
    if (!answer.ok) throw new Unavailable(answer.problem);
    const keys = answer.data.keys as JSONWebKeySet['keys'];
    const loaded = {
      kids: new Set(keys.flatMap(({ kid }) => kid ?? [])),
      key: createLocalJWKSet({ keys }),
    };
    const previous = this.loaded?.kids ?? [];
    this.loaded = loaded;
    if ([...previous].some((kid) => !loaded.kids.has(kid))) this.onRemoved();
    return loaded;
  }
}
