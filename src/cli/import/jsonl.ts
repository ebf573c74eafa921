import { type ImportFormat, Refused } from './format.js';
import { asRow, jsonOf, type Row, textOf } from './records.js';

export const JSONL: ImportFormat = {
  isStrict: true,
  fields: {
    email: 'email',
    passwordHash: 'passwordHash',
    emailVerified: 'emailVerified',
    disabled: 'disabled',
    id: 'id',
    name: 'name',
    avatarUrl: 'avatarUrl',
    locale: 'locale',
  },
};

export function readJsonLine(line: Buffer): Row | Refused {
  return asRow(jsonOf(textOf(line))) ?? new Refused('invalid_json');
}
