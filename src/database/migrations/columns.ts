import {
  type QueryRunner,
  Table,
  TableColumn,
  type TableColumnOptions,
  TableForeignKey,
  TableIndex,
  TableUnique,
} from 'typeorm';

type Part = TableColumn | TableIndex | TableUnique | TableForeignKey;
type ColumnOptions = Partial<TableColumnOptions>;

export const OPTIONAL: ColumnOptions = { isNullable: true };
export const PRIMARY: ColumnOptions = { isPrimary: true };

export function columnsFor(runner: QueryRunner) {
  const mysql = isMysql(runner);
  const ascii = mysql ? { charset: 'ascii', collation: 'ascii_bin' } : {};
  const utf8 = mysql ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
  const exact = mysql ? { charset: 'utf8mb4', collation: unpaddedCollation(runner) } : {};
  const varchar = (name: string, length: number, more: ColumnOptions): TableColumn =>
    new TableColumn({ name, type: 'varchar', length: String(length), ...more });
  const column =
    (type: string) =>
    (name: string, more?: ColumnOptions): TableColumn =>
      new TableColumn({ name, type, ...more });
  return {
    table: (name: string, ...parts: Part[]): Table =>
      new Table({
        name,
        engine: mysql ? 'InnoDB' : undefined,
        columns: parts.filter((part) => part instanceof TableColumn),
        indices: parts.filter((part) => part instanceof TableIndex),
        uniques: parts.filter((part) => part instanceof TableUnique),
        foreignKeys: parts.filter((part) => part instanceof TableForeignKey),
      }),
    text: (name: string, length: number, more?: ColumnOptions) =>
      varchar(name, length, { ...ascii, ...more }),
    id: (name: string, more?: ColumnOptions) => varchar(name, 36, { ...ascii, ...more }),
    unicode: (name: string, length: number, more?: ColumnOptions) =>
      varchar(name, length, { ...utf8, ...more }),
    /** `abc`, `ABC` and `abc ` are three values. */
    exact: (name: string, length: number, more?: ColumnOptions) =>
      varchar(name, length, { ...exact, ...more }),
    number: column('integer'),
    time: column('bigint'),
    flag: column('tinyint'),
  };
}

export function isMysql(runner: QueryRunner): boolean {
  return runner.dataSource.options.type !== 'better-sqlite3';
}

/** The other binary collations ignore spaces at the end. */
function unpaddedCollation(runner: QueryRunner): string {
  return runner.dataSource.options.type === 'mariadb' ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}

export function index(name: string, ...columnNames: string[]): TableIndex {
  return new TableIndex({ name, columnNames });
}

export function unique(name: string, ...columnNames: string[]): TableIndex {
  return new TableIndex({ name, columnNames, isUnique: true });
}

export function foreignKey(name: string, column: string, table: string, referenced = 'id'): TableForeignKey {
  return new TableForeignKey({
    name,
    columnNames: [column],
    referencedTableName: table,
    referencedColumnNames: [referenced],
    onDelete: referenced === 'id' ? 'CASCADE' : 'NO ACTION',
    onUpdate: 'NO ACTION',
  });
}
