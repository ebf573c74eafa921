import type { Format } from './format.js';

export const JSONL: Format = {
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
