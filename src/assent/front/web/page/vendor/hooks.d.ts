export interface Ref<T> {
  current: T;
}
type Cleanup = void | (() => void);
export function useState<T>(initial: T | (() => T)): [T, (next: T | ((now: T) => T)) => void];
export function useEffect(effect: () => Cleanup, inputs?: unknown[]): void;
export function useLayoutEffect(effect: () => Cleanup, inputs?: unknown[]): void;
export function useMemo<T>(make: () => T, inputs: unknown[]): T;
export function useRef<T>(initial: T): Ref<T>;
export function useId(): string;
