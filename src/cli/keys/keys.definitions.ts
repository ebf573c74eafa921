import type { CommandGroup } from '../command/definition.js';

export const KEYS: CommandGroup = {
  name: 'keys',
  summary: 'the signing keys of JWT_KEYS_FILE, which running instances read again when it changes',
  commands: [
    {
      usage: 'list',
      summary: 'show which key signs, which will sign, and which only verify',
      examples: ['keys list', 'keys list --json'],
      load: async () => (await import('./keys.commands.js')).listKeys,
    },
    {
      usage: 'rotate',
      summary: 'add a key; it is published at once and signs 10 minutes later, when verifiers have it',
      options: [['--now', 'sign with the new key at once, for example after a leak']],
      changes: true,
      examples: ['keys rotate', 'keys rotate --now --reason "the backup was stolen"'],
      load: async () => (await import('./keys.commands.js')).rotateKeys,
    },
    {
      usage: 'prune',
      summary: 'remove the keys that no live token or refresh token depends on',
      details: [
        'Keeps the key that signs, keys that will sign, and keys that signed within the last SESSION_IDLE.',
        'Seals anew with the key that signs what the others have sealed, such as the secrets of second factors, which takes',
        '10 seconds where there are any.',
      ].join('\n'),
      options: [
        [
          '--now',
          'remove all keys but the one that signs: users whose tokens another key signed have to log in again',
        ],
      ],
      changes: true,
      examples: ['keys prune', 'keys prune --now --reason "the backup was stolen"'],
      load: async () => (await import('./keys.commands.js')).pruneKeys,
    },
  ],
};
