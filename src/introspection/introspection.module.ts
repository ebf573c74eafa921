import { Module } from '@nestjs/common';
import { MemberRowsModule } from '../orgs/members/member-rows.module.js';
import { IntrospectionController } from './introspection.controller.js';
import { IntrospectionService } from './introspection.service.js';

@Module({
  imports: [MemberRowsModule],
  controllers: [IntrospectionController],
  providers: [IntrospectionService],
})
export class IntrospectionModule {}
