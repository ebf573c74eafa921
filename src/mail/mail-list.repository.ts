import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { hotStatement } from '../database/hot-statements.js';
import { Mail, type MailState } from './mail.entity.js';

export interface MailFilter {
  states: readonly MailState[];
  recipient?: string | undefined;
}

/** greater than any id */
const LATEST = 'g';

const FIND_OF_STATE = hotStatement(
  'the latest mails of a state',
  'SELECT id FROM mails WHERE state = ? AND id < ? ORDER BY id DESC LIMIT ?',
  ['waiting', 'g', 21],
);

/** COALESCE keeps the engines from the index of states, in which the emails to one address may be few among many. */
const FIND_TO = hotStatement(
  'the latest mails to an address',
  `SELECT id FROM mails WHERE recipient = ? AND COALESCE(state, '') = ? AND id < ? ORDER BY id DESC LIMIT ?`,
  ['u1@example.com', 'waiting', 'g', 21],
);

const COUNT = hotStatement(
  'the count of the mails of a state',
  'SELECT COUNT(*) AS mails FROM mails WHERE state = ?',
  ['waiting'],
);

@Injectable()
export class MailListRepository {
  constructor(@InjectRepository(Mail) private readonly mails: Repository<Mail>) {}

  /** Each state is a range of one index. */
  async findLatest({ states, recipient }: MailFilter, limit: number, before = LATEST): Promise<Mail[]> {
    const found = await Promise.all(
      states.map((state) =>
        recipient === undefined
          ? this.findIds(FIND_OF_STATE, [state, before, limit])
          : this.findIds(FIND_TO, [recipient, state, before, limit]),
      ),
    );
    const latestFirst = found.flat().toSorted((a, b) => (a < b ? 1 : -1));
    return this.mails.find({ where: { id: In(latestFirst.slice(0, limit)) }, order: { id: 'DESC' } });
  }

  async count(state: MailState): Promise<number> {
    const [row] = await this.mails.query<{ mails: number }[]>(COUNT, [state]);
    return row!.mails;
  }

  private async findIds(sql: string, values: unknown[]): Promise<string[]> {
    return (await this.mails.query<{ id: string }[]>(sql, values)).map(({ id }) => id);
  }
}
