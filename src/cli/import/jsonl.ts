import type { ImportFormat } from './format.js';

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
