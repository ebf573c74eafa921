import type { Client } from '../client.ts';
import { callHook } from '../hooks.ts';
import { requireKnown } from '../known-members.ts';
import { StoreError } from '../problems.ts';
import type { SessionChange } from '../session-changes.ts';
import { type Answer, CHANNEL } from './messages.ts';
import { PAGE_METHODS, requireNoSignal } from './page-methods.ts';
import { textOf, withoutTokens } from './without-tokens.ts';

interface Frame {
  origin: string;
  parent: object | null;
  send(channel: string, change: SessionChange): void;
}
interface Contents {
  mainFrame: Frame;
  once(event: 'destroyed', listener: () => void): unknown;
}
export interface CallEvent {
  sender: Contents;
  /** Null if the frame has navigated or is gone. */
  senderFrame: Frame | null;
}
type Methods = Record<string, (input?: unknown, options?: unknown) => Promise<unknown>>;

/** The calls of pages, of which the main process sends those that the origins may make. */
export class PageCalls {
  private readonly origins: readonly string[];
  private readonly methods: Methods;
  private readonly listening = new Set<Contents>();

  constructor(client: Client, origins: readonly string[]) {
    this.origins = origins;
    const all = client as unknown as Methods;
    this.methods = Object.fromEntries(PAGE_METHODS.map((name) => [name, all[name]!]));
    client.onSessionChange((change) => this.notify(change));
  }

  async answer(event: CallEvent, name: unknown, input: unknown, options: unknown): Promise<Answer> {
    try {
      if (!this.isAdmitted(event.senderFrame))
        throw new TypeError('createMainClient does not admit this page');
      if (name === 'onSessionChange') return { result: this.listen(event.sender) };
      if (typeof name !== 'string' || !Object.hasOwn(this.methods, name))
        throw new TypeError(`Pages cannot call ${JSON.stringify(name)}`);
      if (name === 'logOut') requireKnown('logOut in a page does', input ?? {}, []);
      requireNoSignal(options);
      return { result: withoutTokens(await this.methods[name]!(input, options)) };
    } catch (error) {
      if (error instanceof StoreError)
        return { failed: 'StoreError', message: error.message, cause: textOf(error.cause) };
      return { failed: 'TypeError', message: textOf(error instanceof TypeError ? error.message : error) };
    }
  }

  private listen(contents: Contents): void {
    if (this.listening.has(contents)) return;
    this.listening.add(contents);
    contents.once('destroyed', () => this.listening.delete(contents));
  }

  /** The page may be another one by now, or no page in the middle of a navigation, when Electron throws. */
  private notify(change: SessionChange): void {
    for (const contents of this.listening)
      void callHook(
        () => this.isAdmitted(contents.mainFrame) && contents.mainFrame.send(CHANNEL, change),
        () => undefined,
      );
  }

  private isAdmitted(frame: Frame | null): boolean {
    return frame !== null && frame.parent === null && this.origins.includes(frame.origin);
  }
}
