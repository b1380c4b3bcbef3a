package s3

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithymiddleware "github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

const (
	connectTimeout = 10 * time.Second
	defaultRegion  = "us-east-1"
)

// connect returns the SDK's client, which the first call makes from the SDK's configuration. A failure is not
// remembered: what was missing may be there for the next call.
func (c *Client) connect(ctx context.Context) (*s3.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.api != nil {
		return c.api, nil
	}
	loaded, err := c.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("set up the S3 client: %w; check the AWS_* variables and the files that they name", err)
	}
	c.api = s3.NewFromConfig(loaded, c.configure)
	return c.api, nil
}

func (c *Client) load(ctx context.Context) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(c.httpClient()),
		// Retries are the retrier's: two loops around each other would multiply, and repeat conditional puts.
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }),
		config.WithAPIOptions([]func(*smithymiddleware.Stack) error{awsmiddleware.AddUserAgentKeyValue("sluice", c.options.Version), c.count, plainBodies}),
	}
	if c.options.Region != "" {
		options = append(options, config.WithRegion(c.options.Region))
	}
	if c.options.Credentials != nil {
		options = append(options, config.WithCredentialsProvider(c.options.Credentials))
	}
	if c.options.CAFile != "" {
		pem, err := os.ReadFile(c.options.CAFile)
		if err != nil {
			return aws.Config{}, err
		}
		options = append(options, config.WithCustomCABundle(bytes.NewReader(pem)))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if loaded.Region == "" {
		loaded.Region = defaultRegion
	}
	return loaded, err
}

// count has Options.Requested told of each request.
func (c *Client) count(stack *smithymiddleware.Stack) error {
	if c.options.Requested == nil {
		return nil
	}
	return stack.Finalize.Add(smithymiddleware.FinalizeMiddlewareFunc("count", func(
		ctx context.Context, in smithymiddleware.FinalizeInput, next smithymiddleware.FinalizeHandler,
	) (smithymiddleware.FinalizeOutput, smithymiddleware.Metadata, error) {
		c.options.Requested(awsmiddleware.GetOperationName(ctx))
		return next.HandleFinalize(ctx, in)
	}), smithymiddleware.After)
}

// plainBodies has the bodies of requests read, and not written by WriteTo. The SDK closes a body as soon as the answer begins, and
// a closed one's WriteTo fails with io.EOF, for which net/http cuts the connection under the answer.
func plainBodies(stack *smithymiddleware.Stack) error {
	return stack.Finalize.Add(smithymiddleware.FinalizeMiddlewareFunc("plain bodies", func(
		ctx context.Context, in smithymiddleware.FinalizeInput, next smithymiddleware.FinalizeHandler,
	) (out smithymiddleware.FinalizeOutput, metadata smithymiddleware.Metadata, err error) {
		if request, ok := in.Request.(*smithyhttp.Request); ok {
			if body, ok := request.GetStream().(io.ReadSeeker); ok {
				if in.Request, err = request.SetStream(struct{ io.ReadSeeker }{body}); err != nil {
					return out, metadata, err
				}
			}
		}
		return next.HandleFinalize(ctx, in)
	}), smithymiddleware.After)
}

func (c *Client) configure(o *s3.Options) {
	if c.options.Endpoint != "" {
		o.BaseEndpoint = aws.String(c.options.Endpoint)
	}
	if c.options.PathStyle != nil {
		o.UsePathStyle = *c.options.PathStyle
	} else {
		o.UsePathStyle = o.BaseEndpoint != nil
	}
	o.DisableLogOutputChecksumValidationSkipped = true
}

func (c *Client) httpClient() *awshttp.BuildableClient {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = c.options.Concurrency + 8
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &stallConn{Conn: conn, stall: c.options.Stall}, nil
		}
	})
}

// stallConn fails a read or a write when for a while no byte has moved in either direction: while a request is being
// sent the answer may be as late as the sending takes.
type stallConn struct {
	net.Conn
	stall time.Duration
}

func (c *stallConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *stallConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
