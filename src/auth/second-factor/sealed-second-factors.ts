import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SealedParts, type SealedRow, type SealedRows } from '../tokens/sealed-parts.js';
import { SecondFactorsRepository } from './second-factors.repository.js';

@Injectable()
export class SealedSecondFactors implements SealedRows, OnModuleInit {
  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly parts: SealedParts,
  ) {}

  onModuleInit(): void {
    this.parts.rows.register('second factor secrets', this);
  }

  findSealed(afterKey: string): Promise<SealedRow[]> {
    return this.factors.findSealed(afterKey);
  }

  replaceSealed(row: SealedRow, sealed: string): Promise<void> {
    return this.factors.replaceSealed(row, sealed);
  }
}
