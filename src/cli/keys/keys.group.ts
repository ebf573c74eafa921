import type { CommandGroup } from '../command.js';

export const KEYS: CommandGroup = {
  name: 'keys',
  summary: 'the signing keys of JWT_KEYS_FILE',
  commands: [],
};
