import type { Answered, Failed } from '../send-request.ts';
import type { Result } from '../results.ts';
import type { ServiceClient } from './client.ts';
import { Slots } from './slots.ts';
import { Unavailable } from './unavailable.ts';

const TIMEOUT_MS = 5_000;
const AT_ONCE = 32;
const WAITING = 1_024;
const KEYS_AT_ONCE = 8;
const KEYS_WAITING = 64;

type ReadOptions = { timeoutMs: number; signal: AbortSignal };
type Call<Data> = (
  client: GuardClient,
  options: ReadOptions,
) => Promise<Result<Data, { code: string; status: number | null }>>;

/** The operations that the guard needs, and the revocation of a session. */
export interface GuardClient extends Pick<
  ServiceClient,
  'introspectToken' | 'issueServiceToken' | 'listMemberships' | 'getKeySet' | 'listEvents'
> {
  revoke(accessToken: string, options: ReadOptions): Promise<Answered | Failed>;
}

export interface ReadPurpose {
  /** The client waits for a revision that the feed has not reported. It may never come, so these reads have slots of their own. */
  awaitsRevision?: boolean;
  /** Anyone can make up keys, so questions about unknown ones leave slots for all else. */
  isUnknownKey?: boolean;
}

/** Bounds the requests to Accounts that run at once, so that many users after a start do not overload it. */
export class BoundedCalls {
  private readonly client: GuardClient;
  private readonly signal: AbortSignal;
  private readonly slots = new Slots(AT_ONCE, WAITING);
  private readonly awaitedSlots = new Slots(AT_ONCE, WAITING);
  private readonly keySlots = new Slots(KEYS_AT_ONCE, KEYS_WAITING);

  constructor(client: GuardClient, signal: AbortSignal) {
    this.client = client;
    this.signal = signal;
  }

  /** Repeats a read without a response once, because another instance may respond. @throws Unavailable */
  read<Data>(call: Call<Data>, purpose: ReadPurpose = {}): Promise<Data> {
    return this.slotsOf(purpose).run(async () => {
      const { options } = this;
      const first = await call(this.client, options);
      if (first.ok) return first.data;
      if (first.problem.code !== 'unreachable') throw new Unavailable(first.problem);
      const second = await call(this.client, options);
      if (second.ok) return second.data;
      throw new Unavailable(second.problem);
    });
  }

  revoke(accessToken: string): Promise<Answered | Failed> {
    return this.slots.run(() => this.client.revoke(accessToken, this.options));
  }

  private slotsOf({ awaitsRevision, isUnknownKey }: ReadPurpose): Slots {
    if (isUnknownKey) return this.keySlots;
    return awaitsRevision ? this.awaitedSlots : this.slots;
  }

  private get options(): ReadOptions {
    return { timeoutMs: TIMEOUT_MS, signal: this.signal };
  }
}
