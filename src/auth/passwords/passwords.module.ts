import { Global, Module } from '@nestjs/common';
import { BreachedPasswords } from './breached-passwords.js';
import { Decoys } from './decoys.js';
import { HASH_ENGINE, loadHashEngine } from './hash-engines.js';
import { PasswordHasher } from './password-hasher.js';

@Global()
@Module({
  providers: [
    BreachedPasswords,
    Decoys,
    { provide: HASH_ENGINE, useFactory: loadHashEngine },
    PasswordHasher,
  ],
  exports: [BreachedPasswords, Decoys, PasswordHasher],
})
export class PasswordsModule {}
