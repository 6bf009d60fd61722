/** A port with some of its methods in the place of its own. */
export function override<T extends object>(port: T, methods: Partial<T>): T {
  return new Proxy(port, { get: (target, name: keyof T & string) => methods[name] ?? target[name] });
}
