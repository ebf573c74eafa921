import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callbackify } from 'node:util';
import { Logger } from '@nestjs/common';
import type { MailMessage, SentMessageInfo, Transport } from 'nodemailer';
import { VERSION } from '../config/env.js';

/** Stands for a mail server in trials: each email becomes a file that mail programs open. */
export class MailFiles implements Transport {
  readonly name = 'files';
  readonly version = VERSION;
  private readonly logger = new Logger('Mail');

  constructor(private readonly directory: string) {}

  send: Transport['send'] = ({ message }, callback) => {
    callbackify(() => this.write(message))(callback);
  };

  /** Renames the whole file, so that a program that waits for it reads no part of it. */
  private async write(message: MailMessage['message']): Promise<SentMessageInfo> {
    // The Message-ID begins with the id of the email, so files sort by time, and an attempt replaces the previous one.
    const messageId = message.messageId();
    const [, id] = /^<([\da-f-]{36})@/.exec(messageId)!;
    const file = join(this.directory, `${id}.eml`);
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const text = (await message.build()).toString().replaceAll('\r\n', '\n');
    await writeFile(`${file}.part`, text, { mode: 0o600 });
    await rename(`${file}.part`, file);
    this.logger.log({ msg: 'email written to a file', file });
    return { envelope: message.getEnvelope(), messageId };
  }
}
