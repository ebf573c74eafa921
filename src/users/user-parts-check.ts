import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { UserParts } from './user-parts.js';

/** Whatever assembles all rooms provides it: a part that is missing would leave rows of deleted users. */
@Injectable()
export class UserPartsCheck implements OnApplicationBootstrap {
  constructor(private readonly parts: UserParts) {}

  onApplicationBootstrap(): void {
    this.parts.requireAll();
  }
}
