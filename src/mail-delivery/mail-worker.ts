import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { type Mail, MAIL_PRIORITIES } from '../mail/mail.entity.js';
import { type DueMails, MailsRepository, type WaitingMail } from '../mail/mails.repository.js';
import { SEND_TIMEOUT_MS, SendingFailedError, SmtpSender } from '../mail/smtp-sender.js';
import { mailCounts } from '../telemetry/metrics/measurements.js';
import { CANDIDATES, choose, type MailRank } from './mail-choice.js';
import { MailTexts } from './mail-texts.js';

const POLL_MS = 1000;
const POLL_AFTER_FAULT_MS = 5000;
const MAX_EXAMINED = 200;
export const LEASE_MS = SEND_TIMEOUT_MS + 20_000;
const STOP_TIMEOUT_MS = 3000;
const NOTE_ATTEMPTS = 10;

const PAUSES_MS = [1000, 5000, 30_000, 120_000, 600_000, ...Array<number>(24).fill(3_600_000)];

export function retryAfterMs(attempts: number): number | undefined {
  return PAUSES_MS[attempts - 1];
}

/** Every instance has a worker. Leases keep two workers from sending the same email. */
@Injectable()
export class MailWorker implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly sending = new Map<Promise<void>, MailRank>();
  private readonly abort = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> = Promise.resolve();
  private stopping = false;
  private failed = false;
  private counts: Record<string, number> = {};
  private areCountsWanted = true;

  constructor(
    private readonly mails: MailsRepository,
    private readonly texts: MailTexts,
    @Inject(SmtpSender) private readonly sender: SmtpSender | undefined,
  ) {}

  start(): void {
    if (!this.sender) return;
    // A scrape returns the counts that the previous scrape requested, so a slow database cannot delay it.
    mailCounts.read = () => {
      this.areCountsWanted = true;
      return this.counts;
    };
    this.schedule(POLL_MS);
  }

  beforeApplicationShutdown(): void {
    this.stopping = true;
    clearTimeout(this.timer);
    setTimeout(() => this.abort.abort(), STOP_TIMEOUT_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.polling;
    await Promise.all(this.sending.keys());
  }

  private schedule(pauseMs: number): void {
    clearTimeout(this.timer);
    if (this.stopping) return;
    const poll = (): void => {
      this.polling = this.polling.then(() => this.poll());
    };
    this.timer = setTimeout(poll, pauseMs * (0.75 + Math.random() / 2)).unref();
  }

  private async poll(): Promise<void> {
    try {
      const { classes, mayHaveMore } = await this.findDue();
      const chosen = this.stopping ? [] : choose(classes, [...this.sending.values()]);
      for (const mail of chosen) this.begin(mail);
      if (this.areCountsWanted) {
        this.areCountsWanted = false;
        this.counts = await this.mails.countByState();
      }
      this.failed = false;
      this.schedule(mayHaveMore ? 0 : POLL_MS);
    } catch (error) {
      if (!this.failed) this.logger.warn({ msg: 'cannot read the outbox; retrying', err: error });
      this.failed = true;
      this.schedule(POLL_AFTER_FAULT_MS);
    }
  }

  private async findDue(): Promise<{ classes: DueMails[]; mayHaveMore: boolean }> {
    const classes: DueMails[] = [];
    let mayHaveMore = false;
    for (const priority of MAIL_PRIORITIES) {
      const limit = priority === 0 ? MAX_EXAMINED : CANDIDATES;
      const { fresh, retries } = await this.mails.findDue(priority, Date.now(), limit);
      const ids = await this.texts.findPointless([...fresh, ...retries]);
      if (ids.length > 0) await this.mails.delete(ids);
      mayHaveMore ||= ids.length > 0 && fresh.length + retries.length >= limit;
      const isWanted = ({ id }: WaitingMail): boolean => !ids.includes(id);
      classes.push({ fresh: fresh.filter(isWanted), retries: retries.filter(isWanted) });
    }
    return { classes, mayHaveMore };
  }

  private begin({ id, ...mail }: WaitingMail): void {
    const work = this.attempt(id).then(() => void this.sending.delete(work));
    this.sending.set(work, mail);
  }

  private async attempt(id: string): Promise<void> {
    try {
      const now = Date.now();
      const mail = await this.mails.claim(id, now, now + LEASE_MS);
      if (!mail) return;
      await this.deliver(mail, now);
      if (!this.failed) this.schedule(0);
    } catch (err) {
      const msg = 'attempt to send an email failed; it is retried when its lease expires';
      this.logger.warn({ msg, mailId: id, err });
    }
  }

  private async deliver(mail: Mail, now: number): Promise<void> {
    const { id, codeId, expiresAt, lastError } = mail;
    if (expiresAt !== null && expiresAt <= now) {
      return this.mails.end(mail, 'failed', lastError ?? 'expired');
    }
    const text = await this.texts.compose(mail);
    if (!text) {
      // Strangers can send any number of requests that get no code.
      return codeId === null ? this.mails.delete([id]) : this.mails.end(mail, 'dropped');
    }
    try {
      await this.sender!.send(mail, text, this.abort.signal);
    } catch (error) {
      if (!(error instanceof SendingFailedError)) throw error;
      return this.noteFailure(mail, error);
    }
    return this.noteSent(mail);
  }

  /** Retries while the database fails, because otherwise Accounts would send the email twice. */
  private async noteSent(mail: Mail): Promise<void> {
    const { id: mailId, kind, attempts } = mail;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.mails.end(mail, 'sent');
        this.logger.debug({ msg: 'email sent', mailId, kind, attempts });
        return;
      } catch (error) {
        if (attempt === NOTE_ATTEMPTS || this.abort.signal.aborted) throw error;
        await sleep(POLL_MS);
      }
    }
  }

  private async noteFailure(mail: Mail, { words, isFinal }: SendingFailedError): Promise<void> {
    const { id: mailId, kind, attempts, expiresAt } = mail;
    const pauseMs = retryAfterMs(attempts);
    const next = Date.now() + (pauseMs ?? Infinity);
    const line = { mailId, kind, attempts, error: words };
    if (isFinal || next >= (expiresAt ?? Infinity)) {
      await this.mails.end(mail, 'failed', words);
      this.logger.error({ msg: 'email failed; it will not be retried', ...line });
      return;
    }
    await this.mails.postpone(mail, next, words);
    this.logger.warn({ msg: 'email not sent; it will be retried', ...line, pauseMs });
  }
}
