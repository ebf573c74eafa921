import { Module } from '@nestjs/common';
import { Writes } from './writes.js';

@Module({ providers: [Writes], exports: [Writes] })
export class WritesModule {}
