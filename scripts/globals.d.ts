// What Node has without saying so in its types.
interface Buffer {
  latin1Slice(start?: number, end?: number): string;
  latin1Write(text: string, offset?: number, length?: number): number;
}

declare namespace NodeJS {
  interface Process {
    // biome-ignore lint/suspicious/noExplicitAny: Node's own bindings have no types
    binding(name: string): any;
  }
}
