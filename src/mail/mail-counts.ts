import { Injectable } from '@nestjs/common';
import { mailCounts } from '../telemetry/metrics/measurements.js';
import { MailsRepository } from './mails.repository.js';

/** Counts emails by state. A scrape returns the count made after the one before, so no slow database can delay it. */
@Injectable()
export class MailCounts {
  private latest: Record<string, number> = {};
  private isWanted = true;

  constructor(private readonly mails: MailsRepository) {}

  provide(): void {
    mailCounts.provide(() => {
      this.isWanted = true;
      return this.latest;
    });
  }

  async refresh(): Promise<void> {
    if (!this.isWanted) return;
    this.isWanted = false;
    this.latest = await this.mails.countByState();
  }
}
