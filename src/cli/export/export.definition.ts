import type { CommandDefinition } from '../command.js';

export const EXPORT: CommandDefinition = {
  usage: 'export <USER>',
  summary: 'everything about one user as a JSON document, for a request of access',
  details: [
    'A user is named by e-mail or id. The document holds the account, the organizations, the sessions, the record of',
    'changes about the user, and the invitations for the e-mail if it is verified: no hash, no code, no address of',
    'anybody else, and not the reasons that operators gave.',
  ].join('\n'),
  examples: ['export ada@example.com > ada.json'],
  load: async () => (await import('./export.command.js')).exportUser,
};
