import { stat } from 'node:fs/promises';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { signingKeyAge } from '../../telemetry/metrics/measurements.js';
import { readKeyFile } from './key-file.js';
import { KeyRing, readKeySet } from './signing-keys.js';
import { VerifiedTokens } from './access-token.js';

/** A file system may hang, so further callers do not wait. */
const MAX_WAITING = 1000;

// Callers share the next poll that begins, so that a flood of unknown keys causes one poll at a time.
export class SharedPoll {
  private current: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private waiting = 0;

  constructor(private readonly poll: () => Promise<void>) {}

  async request(): Promise<void> {
    if (this.waiting >= MAX_WAITING) return;
    this.waiting += 1;
    this.next ??= this.pollAfterCurrent();
    await this.next.finally(() => (this.waiting -= 1));
  }

  private async pollAfterCurrent(): Promise<void> {
    await this.current;
    this.next = undefined;
    this.current = this.poll();
    await this.current;
  }
}

/** Polling sees files that are renamed, mounted or swapped by a symbolic link, on any file system. */
const POLL_MS = 1000;

/** Reloads the key file when it has changed. If it is missing or invalid, the current keys stay in use. */
@Injectable()
export class KeyFileWatch implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Tokens');
  private timer: NodeJS.Timeout | undefined;
  private readonly unknownKeys = new SharedPoll(() => this.poll());
  /** undefined at first, because the file may have changed since the start read it */
  private seen: string | undefined;
  private changedAt = Number.NaN;

  constructor(
    private readonly env: Env,
    private readonly keys: KeyRing,
    private readonly verified: VerifiedTokens,
  ) {}

  start(): void {
    // A key that does not say from when it signs is as old as the file.
    signingKeyAge.read = () =>
      Math.max(0, (Date.now() - (this.keys.signing.signsFrom || this.changedAt)) / 1000) || undefined;
    this.timer = setInterval(() => void this.poll(), POLL_MS).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  async reloadForUnknownKey(): Promise<void> {
    await this.unknownKeys.request();
  }

  private async poll(): Promise<void> {
    const version = await this.version();
    if (version === this.seen) return;
    const isChange = this.seen !== undefined;
    this.seen = version;
    const file = this.env.jwtKeysFile;
    try {
      this.keys.replace(readKeySet(readKeyFile(file)));
      this.verified.forgetAll();
    } catch (err) {
      const msg = 'signing keys could not be read again; the current ones stay in use';
      this.logger.error({ msg, file, err });
      return;
    }
    if (!isChange) return;
    const keys = this.keys.all.map(({ kid }) => kid);
    this.logger.log({ msg: 'signing keys read again', keys, signing: this.keys.signing.kid });
  }

  private async version(): Promise<string> {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(this.env.jwtKeysFile, { bigint: true });
      this.changedAt = Number(mtimeNs / 1_000_000n);
      return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code);
    }
  }
}
