import { Module } from '@nestjs/common';
import { ARGON2_ENGINE, BcryptVerifier, loadArgon2Engine } from './hash-engines.js';
import { PasswordHasher } from './password-hasher.js';
import { AcceptablePassword } from './password.decorators.js';

@Module({
  providers: [
    { provide: ARGON2_ENGINE, useFactory: loadArgon2Engine },
    AcceptablePassword,
    BcryptVerifier,
    PasswordHasher,
  ],
  exports: [PasswordHasher],
})
export class PasswordsModule {}
