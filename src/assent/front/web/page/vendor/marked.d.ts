export interface Token {
  type: string;
  raw: string;
  text: string;
  tokens?: Token[];
  items?: Token[];
  header?: Token[];
  rows?: Token[][];
  align?: (string | null)[];
  depth?: number;
  ordered?: boolean;
  start?: number | "";
  task?: boolean;
  checked?: boolean;
  loose?: boolean;
  lang?: string;
  href?: string;
}
export const marked: { lexer(text: string, options?: object): Token[] };
