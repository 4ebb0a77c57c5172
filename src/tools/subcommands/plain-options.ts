import type { PlainOption } from './completion-scripts.js';

/** nginx's options and those that we have beside them, for the long help and the completion of shells. */
export const plainOptions: readonly PlainOption[] = [
  { name: 'h', describe: 'the help of nginx' },
  { name: 'v', describe: 'show version and exit' },
  { name: 'V', describe: 'show version and configure options then exit' },
  { name: 't', describe: 'test configuration and exit' },
  { name: 'T', describe: 'test configuration, dump it and exit' },
  { name: 'q', describe: 'suppress non-error messages during configuration testing' },
  { name: 's', describe: 'send signal to a master process', takes: ['stop', 'quit', 'reopen', 'reload'] },
  { name: 'check', describe: 'with -s reload: files or folders of cases, of which none may fail', takes: 'file' },
  { name: 'wait', describe: 'with -s reload: end with the outcome' },
  { name: 'p', describe: 'set prefix path', takes: 'file' },
  { name: 'e', describe: 'set error log file', takes: 'file' },
  { name: 'c', describe: 'set configuration file', takes: 'file' },
  { name: 'g', describe: 'set global directives out of configuration file', takes: 'text' },
];
