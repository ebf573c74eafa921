import type { Answered, Failed } from '../exchange.ts';
import type { Result } from '../results.ts';
import type { ServiceClient } from './client.ts';
import { Places } from './places.ts';
import { Unavailable } from './unavailable.ts';

const TIMEOUT_MS = 5_000;
const AT_ONCE = 32;
const WAITING = 1_024;

type CallOptions = { timeoutMs: number; signal: AbortSignal };
type Call<Data> = (
  client: Asked,
  options: CallOptions,
) => Promise<Result<Data, { code: string; status: number | null }>>;

/** The operations that a service needs to take tokens, and the logout of one. */
export interface Asked extends Pick<
  ServiceClient,
  'introspectToken' | 'listMemberships' | 'getKeySet' | 'listEvents'
> {
  revoke(accessToken: string, options: CallOptions): Promise<Answered | Failed>;
}

export interface Asker {
  /** The client waits for a revision that the feed has not told of. It may never come, so such questions have places of their own. */
  isPending: boolean;
}

/** Asks Accounts not more at once than it answers fast, however many requests arrive after a start. */
export class Calls {
  private readonly client: Asked;
  private readonly signal: AbortSignal;
  private readonly places = new Places(AT_ONCE, WAITING);
  private readonly pendingPlaces = new Places(AT_ONCE, WAITING);

  constructor(client: Asked, signal: AbortSignal) {
    this.client = client;
    this.signal = signal;
  }

  /** Reads, once more where nothing was answered: another instance may answer. @throws Unavailable */
  read<Data>(call: Call<Data>, by?: Asker): Promise<Data> {
    const places = by?.isPending ? this.pendingPlaces : this.places;
    return places.run(async () => {
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
    return this.places.run(() => this.client.revoke(accessToken, this.options));
  }

  private get options(): CallOptions {
    return { timeoutMs: TIMEOUT_MS, signal: this.signal };
  }
}
