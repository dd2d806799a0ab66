// What we use of Preact, for the type checker.
export interface VNode {
  type: unknown;
}
export class Component {
  props: object;
  setState(state: object): void;
}
export function h(type: unknown, props: object | null, ...children: unknown[]): VNode;
export function render(what: VNode, where: Element): void;
