import type { CommandGroup } from '../command.js';

export const KEYS: CommandGroup = {
  name: 'keys',
  summary: 'the signing keys of JWT_KEYS_FILE, which running instances read again when it changes',
  commands: [
    {
      usage: 'list',
      summary: 'which key signs, which will, which only verify',
      examples: ['keys list', 'keys list --json'],
      load: async () => (await import('./list.command.js')).listKeys,
    },
    {
      usage: 'rotate',
      summary: 'add a key: published at once, it signs 10 minutes later, when verifiers have it',
      options: [['--now', 'sign with it at once, as after a leak']],
      changes: true,
      examples: ['keys rotate', 'keys rotate --now --reason "the backup was stolen"'],
      load: async () => (await import('./rotate.command.js')).rotateKeys,
    },
    {
      usage: 'prune',
      summary: 'remove the keys that no live token or refresh token depends on',
      details:
        'The key that signs stays, and so do those that will, and those that signed within the last SESSION_IDLE.',
      options: [
        [
          '--now',
          'remove all but the key that signs: everybody whose token another one signed logs in again',
        ],
      ],
      changes: true,
      examples: ['keys prune', 'keys prune --now --reason "the backup was stolen"'],
      load: async () => (await import('./prune.command.js')).pruneKeys,
    },
  ],
};
