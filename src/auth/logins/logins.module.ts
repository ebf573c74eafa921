import { Module } from '@nestjs/common';
import { SessionOpening } from '../sessions/session-opening.service.js';
import { LoginFollowUps } from './login-follow-ups.js';
import { LoginOpening } from './login-opening.js';
import { LoginTraces } from './login-traces.js';

const PROVIDERS = [LoginFollowUps, LoginOpening, LoginTraces, SessionOpening];

/** Not global: Nest may close the database before it stops a global module, and `LoginFollowUps` writes when it stops. */
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class LoginsModule {}
