import { resolve } from 'node:path';
import { bringUpToDate } from './bring-up-to-date.ts';

const compiled = bringUpToDate(resolve(import.meta.dirname, '../..'));
if (compiled.length > 0) console.log(`built: ${compiled.join(', ')}`);
