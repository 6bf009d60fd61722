import { describeKills } from "../harness/kill-chain";

describeKills("add", "cli");
describeKills("add", "provider");
describeKills("add", "interrupted");
